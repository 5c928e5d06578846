// `score`: the model's log-probabilities of tokens one names, a JSON object a line. For comparing this program with another one, so
// the law is the model's own: no temperature, no penalties, a log-softmax in double precision.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/jsonl.hpp"
#include "cli/session.hpp"

namespace outrider::cli {
namespace {

constexpr const char* kScoreFooter =
    "A line {\"ids\": [1, 4093, 198], \"want\": [[29, 28], [198]]} gives {\"logprobs\": [[…, …], […]], \"argmax\": [29, 198]}: row i is\n"
    "the law of the token after ids[0..i]; there are as many rows as \"want\" has lists. Without \"want\": the arg-max after every token.\n"
    "Example:\n"
    "  outrider score --model smollm2-135m-instruct < sequences.jsonl";

constexpr size_t kChunk = 64;  // rows of one pass: enough to be fast, and at most this many rows of logits at a time

struct ScoreLine {
  std::vector<int32_t> ids;
  std::vector<std::vector<int32_t>> want;  // by row
};

Result<void> check_ids(const std::vector<int32_t>& ids, int32_t vocab_size, const std::string& where) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < vocab_size) continue;
    return Error{where + "[" + std::to_string(i) + "]: expected an id below " + std::to_string(vocab_size) + ", found " +
                 std::to_string(ids[i])};
  }
  return {};
}

Result<ScoreLine> parse_line(const Json& object, const model::Architecture& architecture) {
  ScoreLine line;
  if (!object.contains("ids")) return Error{"member \"ids\": expected a list of token ids, found none"};
  OUTRIDER_TRY(line.ids, token_list(object["ids"], "member \"ids\""));
  OUTRIDER_CHECK(check_ids(line.ids, architecture.vocab_size, "member \"ids\""));
  if (line.ids.size() > static_cast<size_t>(architecture.context_length)) {
    return Error{"member \"ids\": expected at most " + std::to_string(architecture.context_length) + " ids (the model's context), found " +
                 std::to_string(line.ids.size())};
  }
  if (!object.contains("want")) {
    line.want.resize(line.ids.size());
    return line;
  }
  const Json& want = object["want"];
  if (!want.is_array() || want.size() > line.ids.size()) {
    return Error{"member \"want\": expected a list of at most " + std::to_string(line.ids.size()) + " lists of ids, found " +
                 (want.is_array() ? std::to_string(want.size()) + " of them" : std::string(want.type_name()))};
  }
  for (size_t row = 0; row < want.size(); ++row) {
    const std::string where = "member \"want\"[" + std::to_string(row) + "]";
    OUTRIDER_TRY(std::vector<int32_t> ids, token_list(want[row], where));
    OUTRIDER_CHECK(check_ids(ids, architecture.vocab_size, where));
    line.want.push_back(std::move(ids));
  }
  return line;
}

// log of the sum of exp over a row, in double.
double log_sum_exp(std::span<const float> logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - top);
  return top + std::log(sum);
}

Json score_line(model::Transformer& target, model::KvCache& cache, const model::KvSequence& sequence, const ScoreLine& line) {
  const auto vocab = static_cast<size_t>(target.architecture().vocab_size);
  Json logprobs = Json::array(), argmax = Json::array();
  const size_t rows = line.want.size();
  model::Batch batch;
  for (size_t begin = 0; begin < rows; begin += kChunk) {
    const size_t end = std::min(rows, begin + kChunk);
    batch.clear();
    for (size_t i = begin; i < end; ++i) batch.add_contiguous(line.ids[i], static_cast<int32_t>(i), &sequence, model::Want::logits);
    const std::span<const float> logits = target.forward(batch, cache).logits;
    for (size_t i = begin; i < end; ++i) {
      const std::span<const float> row = logits.subspan((i - begin) * vocab, vocab);
      const double norm = log_sum_exp(row);
      Json values = Json::array();
      for (const int32_t id : line.want[i]) values.push_back(static_cast<double>(row[static_cast<size_t>(id)]) - norm);
      logprobs.push_back(std::move(values));
      argmax.push_back(std::max_element(row.begin(), row.end()) - row.begin());  // the lowest id on ties
    }
  }
  return {{"logprobs", std::move(logprobs)}, {"argmax", std::move(argmax)}};
}

int score(const config::CommandLine& configuration) {
  const InterruptScope interrupts;
  auto loaded = load_configuration(configuration);
  if (!loaded.ok()) return fail(loaded.error(), kUsage);
  auto args = with_option(**loaded, "score", "spec.algorithm", std::string("none"));
  if (!args.ok()) return fail(args.error(), kUsage);
  const kernels::KvType kv_type = model::kv_type_of((*args)->values().memory.kv_type);
  auto session = open_session(*args, {});
  if (!session.ok()) return fail(session.error());
  model::Transformer& target = *(*session)->runtime.target;
  const model::Architecture& architecture = target.architecture();
  model::KvCache cache(architecture, kv_type, architecture.context_length);
  return run_filter(std::cin, [&](const Json& object) -> Result<Json> {
    OUTRIDER_TRY(const ScoreLine line, parse_line(object, architecture));
    std::optional<model::KvSequence> sequence = cache.reserve(static_cast<int64_t>(line.ids.size()));
    if (!sequence) return Error{"KV cache: no room for " + std::to_string(line.ids.size()) + " positions"};
    Json answer = score_line(target, cache, *sequence, line);
    cache.release(*sequence);
    return answer;
  });
}

}  // namespace

void add_score(CLI::App& app, Command& chosen) {
  auto configuration = std::make_shared<config::CommandLine>();
  CLI::App* command = app.add_subcommand("score", "Log-probabilities of given tokens, a JSON object a line");
  command->footer(kScoreFooter);
  add_configuration_options(*command, *configuration);
  command->callback([configuration, &chosen] { chosen = [configuration] { return score(*configuration); }; });
}

}  // namespace outrider::cli
