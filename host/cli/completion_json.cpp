#include "cli/completion_json.hpp"

namespace outrider::cli {

std::optional<drafting::DrafterReport> find_report(const scheduler::Engine& engine, const std::string& name) {
  for (drafting::DrafterReport& report : engine.drafter_reports()) {
    if (report.name == name) return std::move(report);
  }
  return std::nullopt;
}

Json completion_json(const scheduler::Runtime& runtime, const scheduler::Completion& completion) {
  Json drafter = {{"name", completion.drafter}, {"library", nullptr}, {"version", nullptr}};
  if (const auto report = find_report(*runtime.engine, completion.drafter)) {
    drafter["library"] = report->library;
    drafter["version"] = report->version;
    if (report->faults > 0) {
      drafter["faults"] = report->faults;
      drafter["last_fault"] = report->last_fault;
    }
  }
  const scheduler::SpeculationStats& speculation = completion.speculation;
  Json json = {
      {"text", completion.text},
      {"token_ids", completion.token_ids},
      {"finish_reason", scheduler::name(completion.finish_reason)},
      {"drafter", std::move(drafter)},
      {"usage", {{"prompt_tokens", completion.prompt_tokens}, {"completion_tokens", completion.token_ids.size()}}},
      {"speculation",
       {{"rounds", speculation.rounds},
        {"drafted", speculation.drafted},
        {"correct_drafts", speculation.correct_drafts},
        {"acceptance_length", speculation.acceptance_length()}}},
      {"timing",
       {{"prefill_tokens_per_second", completion.timing.prefill_tokens_per_second()},
        {"decode_tokens_per_second", completion.timing.decode_tokens_per_second()}}},
  };
  if (!completion.error.empty()) json["error"] = completion.error;
  if (!runtime.refusals.empty()) json["refusals"] = runtime.refusals;
  return json;
}

}  // namespace outrider::cli
