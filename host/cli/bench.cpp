// `outrider bench`: the same questions plainly and with each drafter, in one process and in turn, so that what disturbs the machine
// disturbs both alike.

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "cli/conversation.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/machine.hpp"
#include "cli/prompt_options.hpp"
#include "cli/questions.hpp"
#include "cli/sampling_options.hpp"
#include "cli/session.hpp"
#include "cli/terminal.hpp"
#include "drafting/draft_host.hpp"

namespace outrider::cli {
namespace {

constexpr const char* kBenchFooter =
    "Each question is answered plainly and with each drafter, in turn and in changing order; tokens/s is decoding alone (output tokens\n"
    "after the first, over the seconds they took). Exit code 3 when a drafter changed an answer.\n"
    "Examples:\n"
    "  outrider bench --questions tests/data/spec_bench_dev.jsonl --drafters NAME --limit 24\n"
    "  outrider bench --questions questions.jsonl --drafters NAME,OTHER --max-tokens 256 --repeats 3 --json result.json\n"
    "  outrider bench kernels --help";

struct BenchOptions {
  config::CommandLine configuration;
  SamplingOptions sampling;
  PromptOptions prompt;
  std::string questions;
  std::vector<std::string> drafters;
  size_t limit = 0;
  int repeats = 1;
  std::string turns = "first";
  std::string json;
};

// The run whose decoding took the median time; the lower middle one of an even number.
scheduler::Completion median_run(std::vector<scheduler::Completion> runs) {
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>((runs.size() - 1) / 2);
  std::nth_element(runs.begin(), middle, runs.end(), [](const scheduler::Completion& a, const scheduler::Completion& b) {
    return a.timing.decode_seconds < b.timing.decode_seconds;
  });
  return std::move(*middle);
}

class Bench {
 public:
  Bench(const scheduler::Runtime& runtime, const BenchOptions& options, verify::SamplingParams sampling, bool chat)
      : runtime_(runtime), options_(options), sampling_(std::move(sampling)), chat_(chat) {
    sampling_.n = 1;
    modes_ = {"none"};
    for (const drafting::DrafterReport& report : runtime.engine->drafter_reports()) {
      const auto& asked = options.drafters;
      if (std::find(asked.begin(), asked.end(), report.name) != asked.end()) modes_.push_back(report.name);
    }
  }

  // Measures; stops early on Ctrl-C. kFailed when a question could not be answered, kDiffers when an answer changed.
  int run(const std::vector<Question>& questions) {
    warm_up();
    ProgressBar progress(static_cast<int64_t>(questions.size()));
    int64_t done = 0;
    for (const Question& question : questions) {
      progress.show(done++, question.category);
      if (const Result<void> answered = ask(question); !answered.ok()) {
        if (interrupted()) return kInterrupted;
        progress.wipe();
        code_ = fail(Error{"question " + std::to_string(done) + " (" + question.category + "): " + answered.error().message});
      }
    }
    return code_;
  }

  [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  // The first pass of a process pays for page faults and for waking the threads; no measured run shall.
  void warm_up() {
    scheduler::Request request;
    request.prompt = encode_raw(runtime_, "Hello");
    request.drafter = "none";
    request.sampling.max_tokens = 8;
    (void)run_request(*runtime_.engine, std::move(request));
  }

  Result<void> ask(const Question& question) {
    Json messages = Json::array();
    if (!options_.prompt.system.empty()) messages.push_back(message("system", options_.prompt.system));
    std::string text;  // the conversation so far, for a model without a template
    const size_t turns = options_.turns == "all" ? question.turns.size() : 1;
    for (size_t turn = 0; turn < turns; ++turn) {
      messages.push_back(message("user", question.turns[turn]));
      text += question.turns[turn];
      std::vector<int32_t> prompt;
      if (chat_) {
        OUTRIDER_TRY(prompt, encode_messages(runtime_, messages, nullptr));
      } else {
        prompt = encode_raw(runtime_, text);
      }
      OUTRIDER_TRY(const std::string answer, measure(question.category, prompt));
      messages.push_back(message("assistant", answer));
      text += answer + "\n";
    }
    return {};
  }

  // Runs one prompt in every mode, --repeats times; returns the plain answer. The mode that goes first changes from run to run.
  Result<std::string> measure(const std::string& category, const std::vector<int32_t>& prompt) {
    std::vector<std::vector<scheduler::Completion>> runs(modes_.size());
    for (int repeat = 0; repeat < options_.repeats; ++repeat, ++rotation_) {
      for (size_t i = 0; i < modes_.size(); ++i) {
        const size_t mode = (i + rotation_) % modes_.size();
        OUTRIDER_TRY(std::vector<scheduler::Completion> completions,
                     run_request(*runtime_.engine,
                                 {.prompt = prompt, .sampling = sampling_, .drafter = modes_[mode], .on_output = {}, .on_logits = {}}));
        scheduler::Completion& completion = completions.front();
        if (completion.finish_reason == scheduler::FinishReason::error) return Error{completion.error};
        if (completion.finish_reason == scheduler::FinishReason::cancelled) return Error{"stopped by Ctrl-C"};
        runs[mode].push_back(std::move(completion));
      }
    }
    const std::vector<int32_t> expected = runs[0].front().token_ids;
    const auto agrees = [&](const scheduler::Completion& completion) { return completion.token_ids == expected; };
    const bool repeatable = std::all_of(runs[0].begin(), runs[0].end(), agrees);
    const scheduler::Completion plain = median_run(std::move(runs[0]));
    for (size_t mode = 1; mode < modes_.size(); ++mode) {
      const bool identical = repeatable && std::all_of(runs[mode].begin(), runs[mode].end(), agrees);
      if (!identical && code_ == kOk) code_ = kDiffers;
      const scheduler::Completion drafted = median_run(std::move(runs[mode]));
      pairs_.push_back({category, modes_[mode], plain.timing, drafted.timing, drafted.speculation, identical});
    }
    return plain.text;
  }

  const scheduler::Runtime& runtime_;
  const BenchOptions& options_;
  verify::SamplingParams sampling_;
  bool chat_;
  std::vector<std::string> modes_;  // "none" first
  size_t rotation_ = 0;
  std::vector<Pair> pairs_;
  int code_ = kOk;
};

// What --drafters says; without it, the configured drafter.
std::vector<std::string> drafters_of(const BenchOptions& options, const config::ServerArgs& args) {
  std::vector<std::string> names = options.drafters;
  if (names.empty()) names.push_back(args.values().spec.algorithm);
  names.erase(std::remove(names.begin(), names.end(), "none"), names.end());
  return names;
}

int bench(BenchOptions options) {
  const InterruptScope interrupts;
  Result<verify::SamplingParams> sampling = sampling_params(options.sampling);
  if (!sampling.ok()) return fail(sampling.error(), kUsage);
  Result<std::vector<Question>> questions = read_questions(options.questions);
  if (!questions.ok()) return fail(questions.error());
  auto args = load_configuration(options.configuration);
  if (!args.ok()) return fail(args.error(), kUsage);
  options.drafters = drafters_of(options, **args);
  if (options.drafters.empty()) {
    return fail(Error{"--drafters: expected a drafter's name, found none; outrider drafters lists them"}, kUsage);
  }
  auto session = open_session(*args, {.drafters = options.drafters, .engine = true});
  if (!session.ok()) return fail(session.error());
  const scheduler::Runtime& runtime = (*session)->runtime;
  const Result<bool> chat = uses_template(runtime, options.prompt.form());
  if (!chat.ok()) return fail(chat.error());

  Bench bench(runtime, options, *std::move(sampling), *chat);
  int code = bench.run(choose_evenly(*questions, options.limit));
  if (code == kOk && !runtime.refusals.empty()) code = kFailed;
  const std::vector<BenchRow> rows = summarise(bench.pairs(), categories_of(*questions));
  const std::string machine = describe_machine(*runtime.target);
  print(machine + "\n" + runtime.model_name + "\n\n" + table(rows));
  if (!options.json.empty()) {
    const Json json = {{"machine", machine}, {"model", runtime.model_name}, {"rows", rows_json(rows)}};
    if (const Result<void> written = write_json(options.json, json); !written.ok()) return fail(written.error());
  }
  return code;
}

}  // namespace

void add_bench(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Measure drafters on questions, beside plain decoding");
  command->footer(kBenchFooter);
  command->add_option("--questions", options->questions, "Questions in Spec-Bench's form, a JSON object a line (needed)");
  command->add_option("--drafters", options->drafters, "Drafters, with commas between; the configured one when not given")
      ->delimiter(',')->expected(1)->take_all();
  command->add_option("--limit", options->limit, "So many questions, spread evenly over the categories; 0: all")->capture_default_str();
  command->add_option("--repeats", options->repeats, "Runs of each question; the median counts")
      ->check(CLI::Range(1, 1000))->capture_default_str();
  command->add_option("--turns", options->turns, "first: a question's first turn; all: the conversation")
      ->check(CLI::IsMember({"first", "all"}))->capture_default_str();
  command->add_option("--json", options->json, "Write the result to a file as well")->type_name("FILE");
  add_prompt_options(*command, options->prompt);
  add_sampling_options(*command, options->sampling, 128);
  add_configuration_options(*command, options->configuration);
  add_bench_kernels(*command, chosen);
  command->callback([command, options, &chosen] {  // runs after the subcommand's own
    if (command->get_subcommands().empty()) {
      if (options->questions.empty()) throw CLI::RequiredError("--questions");
      chosen = [options] { return bench(*options); };
      return;
    }
    for (const CLI::Option* option : command->get_options()) {
      if (option->count() == 0) continue;
      throw CLI::ValidationError(option->get_name(), "is not an option of bench kernels, or belongs after its name");
    }
  });
}

}  // namespace outrider::cli
