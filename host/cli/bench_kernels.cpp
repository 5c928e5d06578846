// `outrider bench kernels`: how near this machine's limits the loaded model runs, and another program's figures beside it. Everything is
// measured in rounds, each of which has a sample of everything: what disturbs the machine for a while disturbs all of it.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "cli/bench_subject.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/kernels_report.hpp"
#include "cli/machine.hpp"
#include "cli/peer.hpp"
#include "cli/session.hpp"
#include "cli/shared_file.hpp"
#include "cli/terminal.hpp"
#include "kernels/cpu/peak.hpp"

namespace outrider::cli {
namespace {

constexpr const char* kBenchKernelsFooter =
    "Figures are medians of --repeats rounds, the peaks too: what slows the passes slows the peaks beside them.\n"
    "The limit of a pass of M rows is the longer of\n"
    "  memory      (bytes of the weights, head included, + keys and values seen) / read bandwidth\n"
    "  arithmetic  multiply-adds with quantised weights / int8 rate + those with float weights and of attention / f32 rate;\n"
    "decode is passes of one row, prefill the passes of its chunks, t(M) the time of M rows (each of which gives a token, as in verification)\n"
    "over that of one. share: the limit's time over the time measured.\n"
    "The peer loads the same file, with as many threads, in a Python process that stands still while we measure.\n"
    "Examples:\n"
    "  outrider bench kernels\n"
    "  outrider bench kernels --model qwen2.5-coder-0.5b-instruct --context 8192 --json result.json\n"
    "  outrider bench kernels --peer llama.cpp --python venv/bin/python";

constexpr int32_t kRows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 32};
constexpr int32_t kMostRows = 32;
constexpr int32_t kShortContext = 64;
constexpr int32_t kShortPrompt = 128;  // read besides --prefill
constexpr int32_t kPasses = 2;         // of each number of rows in a round

struct KernelsOptions {
  config::CommandLine configuration;
  int repeats = 5;
  int32_t prefill = 512, decode = 64, context = 0;
  std::string peer, python = "python3", json;
};

// A program with what was measured of it.
struct Contestant {
  Subject* subject;
  Samples* samples;
  std::vector<int32_t> contexts;
};

class Rounds {
 public:
  Rounds(const KernelsOptions& options, const model::Transformer& target, KernelsResult& result)
      : options_(options),
        target_(target),
        result_(result),
        memory_(target.pool(), buffer_bytes()),
        progress_(options.repeats * static_cast<int64_t>(std::size(kRows) + 2)) {}

  Result<void> run(OwnSubject& own, Peer* peer) {
    std::vector<int32_t> contexts = {kShortContext};
    if (options_.context > kShortContext) contexts.push_back(options_.context);
    contestants_ = {{&own, &result_.own, contexts}};
    if (peer != nullptr) contestants_.push_back({peer, &result_.peer.emplace(), {kShortContext}});
    OUTRIDER_CHECK(each([](Contestant& c) { return warm_up(*c.subject); }));
    for (int round = 0; round < options_.repeats; ++round) OUTRIDER_CHECK(one_round(round));
    result_.peaks = {median(peaks_.read), median(peaks_.int8), median(peaks_.f32)};
    result_.best = {std::ranges::max(peaks_.read), std::ranges::max(peaks_.int8), std::ranges::max(peaks_.f32)};
    return {};
  }

 private:
  // Far larger than any last-level cache; less where memory is scarce.
  static size_t buffer_bytes() {
    constexpr size_t kMost = size_t{1} << 30, kLeast = size_t{64} << 20;
    const size_t available = available_memory();
    return available == 0 ? kLeast : std::clamp(available / 4, kLeast, kMost);
  }

  static Result<void> warm_up(Subject& subject) {
    OUTRIDER_CHECK(subject.decode(kShortContext, 2));
    OUTRIDER_CHECK(subject.passes(kShortContext, kMostRows, 1));
    return {};
  }

  // Does `measure` for every contestant. The peer's failure ends its part alone; ours, or Ctrl-C, is an error.
  template <class F>
  Result<void> each(F measure) {
    std::rotate(contestants_.begin(), contestants_.begin() + 1, contestants_.end());  // another one goes first each time
    for (size_t i = 0; i < contestants_.size(); ++i) {
      const Result<void> measured = measure(contestants_[i]);
      if (measured.ok()) continue;
      if (interrupted() || contestants_[i].samples == &result_.own) return measured.error();
      progress_.wipe();
      log::warn("{}; going on without it", measured.error().message);
      result_.peer_error = measured.error().message;
      result_.peer.reset();
      contestants_.erase(contestants_.begin() + static_cast<std::ptrdiff_t>(i--));
    }
    if (interrupted()) return Error{"stopped by Ctrl-C"};
    return {};
  }

  void measure_peaks() {
    using kernels::MultiplyAdd;
    peaks_.read.push_back(memory_.measure());
    peaks_.int8.push_back(kernels::multiply_add_rate(target_.isa(), target_.pool(), MultiplyAdd::int8));
    peaks_.f32.push_back(kernels::multiply_add_rate(target_.isa(), target_.pool(), MultiplyAdd::f32));
  }

  Result<void> one_round(int round) {
    measure_peaks();
    progress_.show(done_++, "decode");
    OUTRIDER_CHECK(each([&](Contestant& c) -> Result<void> {
      OUTRIDER_TRY(const double seconds, c.subject->decode(kShortContext, options_.decode));
      c.samples->decode.push_back(seconds);
      return {};
    }));
    measure_peaks();
    progress_.show(done_++, "prefill");
    for (const int32_t tokens : std::set<int32_t>{std::min(kShortPrompt, options_.prefill), options_.prefill}) {
      OUTRIDER_CHECK(each([&](Contestant& c) -> Result<void> {
        OUTRIDER_TRY(const double seconds, c.subject->prefill(tokens));
        c.samples->prefill[tokens].push_back(seconds);
        return {};
      }));
    }
    measure_peaks();
    for (size_t i = 0; i < std::size(kRows); ++i) {
      const int32_t rows = kRows[round % 2 == 0 ? i : std::size(kRows) - 1 - i];  // up, and down in the next round
      progress_.show(done_++, std::to_string(rows) + " rows");
      OUTRIDER_CHECK(each([&](Contestant& c) { return measure_passes(c, rows); }));
    }
    return {};
  }

  static Result<void> measure_passes(Contestant& c, int32_t rows) {
    for (const int32_t context : c.contexts) {
      OUTRIDER_TRY(const std::vector<double> seconds, c.subject->passes(context, rows, kPasses));
      auto& all = c.samples->passes[context][rows];
      all.insert(all.end(), seconds.begin(), seconds.end());
    }
    return {};
  }

  const KernelsOptions& options_;
  const model::Transformer& target_;
  KernelsResult& result_;
  kernels::ReadBandwidth memory_;
  struct {
    std::vector<double> read, int8, f32;
  } peaks_;  // a second, sample by sample
  ProgressBar progress_;
  int64_t done_ = 0;
  std::vector<Contestant> contestants_;
};

// The longest sequence that is run: prompt and decoded tokens, the longer prompt, and the passes.
int32_t longest_sequence(const KernelsOptions& options) {
  return std::max({kShortContext + options.decode + 1, options.prefill + 1, std::max(options.context, kShortContext) + kMostRows});
}

Result<void> check_lengths(const KernelsOptions& options, int32_t context_length) {
  const int32_t longest = longest_sequence(options);
  if (longest <= context_length) return {};
  return Error{"--prefill, --decode, --context: expected at most the model's context of " + std::to_string(context_length) +
               " tokens, found a need of " + std::to_string(longest) +
               "; lower them, or raise model.context_length where the model allows"};
}

Result<std::unique_ptr<Peer>> start_peer(const KernelsOptions& options) {
  if (options.peer.empty()) return std::unique_ptr<Peer>();
  const std::string script = shared_file("llama_cpp_peer.py").string();
  if (script.empty())
    return Error{"--peer: llama_cpp_peer.py is not in share/outrider beside the program's bin folder; reinstall outrider"};
  return Peer::start(options.python, script);
}

Result<std::shared_ptr<const config::ServerArgs>> configuration_of(const KernelsOptions& options) {
  OUTRIDER_TRY(const auto args, load_configuration(options.configuration));
  return with_option(*args, "bench kernels", "spec.algorithm", std::string("none"));
}

int bench_kernels(const KernelsOptions& options) {
  const InterruptScope interrupts;
  auto peer = start_peer(options);  // first: a peer that is not there shall be known before minutes are spent
  if (!peer.ok()) return interrupted() ? kInterrupted : fail(peer.error(), kUsage);
  const auto args = configuration_of(options);
  if (!args.ok()) return fail(args.error(), kUsage);
  auto session = open_session(*args, {.drafters = {}, .engine = true});
  if (!session.ok()) return fail(session.error());
  const scheduler::Runtime& runtime = (*session)->runtime;
  if (const auto fits = check_lengths(options, runtime.engine->context_length()); !fits.ok()) return fail(fits.error(), kUsage);

  const auto& schedule = (*session)->context.get_schedule();
  const kernels::KvType kv_type = model::kv_type_of((*session)->context.get_memory().kv_type);
  const int32_t longest = longest_sequence(options);
  const auto tokens = arbitrary_tokens(longest, runtime.target->architecture().vocab_size);
  KernelsResult result;
  result.machine = describe_machine(*runtime.target);
  result.model = runtime.model_name;
  result.decode_tokens = options.decode, result.decode_context = kShortContext;
  result.prefill_tokens = options.prefill;
  result.prefill_chunk = static_cast<int32_t>(std::min(schedule.prefill_chunk, schedule.max_batch_rows));
  if (*peer != nullptr) {
    result.peer_version = (*peer)->version();
    const auto loaded = (*peer)->load(runtime.model_path, runtime.pool->size(), longest, tokens);
    if (!loaded.ok()) return interrupted() ? kInterrupted : fail(loaded.error());
  }
  {
    OwnSubject own(runtime, kv_type, tokens, longest);
    const Result<void> measured = Rounds(options, *runtime.target, result).run(own, peer->get());
    if (!measured.ok()) return interrupted() ? kInterrupted : fail(measured.error());
  }
  print(kernels_text(result, *runtime.target, kv_type));
  if (!options.json.empty()) {
    const Result<void> written = write_json(options.json, kernels_json(result, *runtime.target, kv_type));
    if (!written.ok()) return fail(written.error());
  }
  return result.peer_error.empty() ? kOk : kFailed;
}

}  // namespace

void add_bench_kernels(CLI::App& bench, Command& chosen) {
  auto options = std::make_shared<KernelsOptions>();
  CLI::App* command = bench.add_subcommand("kernels", "Measure this machine's peaks and how near them the model runs");
  command->footer(kBenchKernelsFooter);
  command->add_option("--repeats", options->repeats, "Rounds; the median counts")->check(CLI::Range(1, 1000))->capture_default_str();
  command->add_option("--prefill", options->prefill, "Tokens of the prompt that is read; one of 128 is read too")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  command->add_option("--decode", options->decode, "Tokens of a decode sample")->check(CLI::Range(1, 1 << 24))->capture_default_str();
  command->add_option("--context", options->context, "Measure t(M) after so many positions too, besides 64")
      ->check(CLI::Range(kShortContext + 1, 1 << 24));
  command->add_option("--peer", options->peer, "Another program, measured in the same rounds: llama.cpp")
      ->check(CLI::IsMember({"llama.cpp"}));
  command->add_option("--python", options->python, "The Python that has the peer's package")->capture_default_str()->type_name("PATH");
  command->add_option("--json", options->json, "Write the result to a file as well")->type_name("FILE");
  add_configuration_options(*command, options->configuration);
  command->callback([options, &chosen] { chosen = [options] { return bench_kernels(*options); }; });
}

}  // namespace outrider::cli
