#include "cli/summary.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "cli/completion_json.hpp"

namespace outrider::cli {
namespace {

struct Totals {
  int64_t prompt_tokens = 0, output_tokens = 0;
  scheduler::SpeculationStats speculation;
  scheduler::Timing timing;

  explicit Totals(const std::vector<scheduler::Completion>& completions) {
    for (const scheduler::Completion& completion : completions) {
      prompt_tokens += completion.prompt_tokens;
      output_tokens += static_cast<int64_t>(completion.token_ids.size());
      speculation.rounds += completion.speculation.rounds;
      speculation.drafted += completion.speculation.drafted;
      speculation.correct_drafts += completion.speculation.correct_drafts;
      timing.prefill_seconds += completion.timing.prefill_seconds;
      timing.prefill_tokens += completion.timing.prefill_tokens;
      timing.decode_seconds += completion.timing.decode_seconds;
      timing.decode_tokens += completion.timing.decode_tokens;
    }
  }
};

std::string drafter_line(const scheduler::Runtime& runtime, const std::string& name) {
  if (const auto report = find_report(*runtime.engine, name)) return fmt::format("{} {} from {}", name, report->version, report->library);
  return "none (plain decoding)";
}

}  // namespace

bool identical(const std::vector<scheduler::Completion>& a, const std::vector<scheduler::Completion>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const scheduler::Completion& x, const scheduler::Completion& y) {
    return x.token_ids == y.token_ids && x.finish_reason == y.finish_reason;
  });
}

std::string summary(const scheduler::Runtime& runtime, const std::vector<scheduler::Completion>& completions,
                    const std::vector<scheduler::Completion>& plain) {
  const Totals total(completions);
  const std::string drafter = completions.empty() ? "none" : completions.front().drafter;
  std::string text;
  text += fmt::format("model              {}\n", runtime.model_name);
  text += fmt::format("drafter            {}\n", drafter_line(runtime, drafter));
  text += fmt::format("tokens             {} of prompt, {} of output ({})\n", total.prompt_tokens, total.output_tokens,
                      completions.empty() ? "" : scheduler::name(completions.front().finish_reason));
  text += fmt::format("prefill            {:.1f} tokens/s\n", total.timing.prefill_tokens_per_second());
  text += fmt::format("decode             {:.1f} tokens/s\n", total.timing.decode_tokens_per_second());
  text += fmt::format("acceptance length  {:.2f} tokens a round, {} rounds\n", total.speculation.acceptance_length(),
                      total.speculation.rounds);
  text += fmt::format("drafts             {} proposed, {} accepted\n", total.speculation.drafted, total.speculation.correct_drafts);
  if (const auto report = find_report(*runtime.engine, drafter); report && report->faults > 0) {
    text += fmt::format("drafter faults     {}, the last one: {}\n", report->faults, report->last_fault);
  }
  for (const std::string& refusal : runtime.refusals) text += fmt::format("refused            {}\n", refusal);
  if (plain.empty()) return text;
  const double plain_rate = Totals(plain).timing.decode_tokens_per_second();
  text += fmt::format("plain decode       {:.1f} tokens/s\n", plain_rate);
  if (plain_rate > 0) text += fmt::format("ratio              {:.2f} times plain\n", total.timing.decode_tokens_per_second() / plain_rate);
  text += fmt::format("output identical: {}\n", identical(completions, plain) ? "yes" : "no");
  return text;
}

}  // namespace outrider::cli
