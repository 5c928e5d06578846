#include "scheduler/engine.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <random>
#include <unordered_map>

#include "base/log.hpp"
#include "scheduler/batch_builder.hpp"
#include "scheduler/cost_curve.hpp"
#include "scheduler/planner.hpp"
#include "scheduler/sequence.hpp"
#include "verify/acceptance.hpp"
#include "verify/noise.hpp"

namespace outrider::scheduler {

std::string_view name(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::cancelled:
      return "cancelled";
    case FinishReason::error:
      return "error";
  }
  return "";
}

namespace {

constexpr double kCurveSeconds = 0.3;  // spent on timing passes when the first drafter is added

// The cost curve of this target on this machine; in `file`, when there is one, times of earlier starts are found and left for later ones.
// Nullopt: the cache has no room for timing now.
std::optional<CostCurve> cost_curve_of(model::Transformer& target, model::KvCache& cache, const EngineOptions& options) {
  PassTimes times;
  if (!options.pass_times_file.empty()) times = read_pass_times(options.pass_times_file, options.pass_times_key);
  if (!times.measure(target, cache, options.context_length, kCurveSeconds)) return std::nullopt;
  if (!options.pass_times_file.empty()) {
    if (auto written = write_pass_times(options.pass_times_file, options.pass_times_key, times); !written)
      log::debug("{}", written.error().message);
  }
  return times.curve();
}

}  // namespace

struct Engine::State {
  model::Transformer& target;
  const text::Tokenizer& tokenizer;
  EngineOptions options;
  model::KvCache cache;
  DraftPlanner planner{CostCurve{}};
  bool measured = false;  // the planner's cost curve
  std::vector<std::unique_ptr<DrafterSlot>> drafters;
  std::string default_drafter = "none";

  uint64_t next_request = 1, next_sequence = 1;
  std::deque<std::unique_ptr<Sequence>> waiting;
  std::vector<std::unique_ptr<Sequence>> running;  // in order of admission
  struct Outcome {
    int32_t open;  // completions not finished yet
    std::vector<Completion> completions;
  };
  std::unordered_map<uint64_t, Outcome> outcomes;

  std::mutex cancel_mutex;
  std::vector<uint64_t> cancelled;  // guarded by cancel_mutex

  // Reused every step.
  StepBatch step_batch;
  std::vector<drafting::DraftRequest> draft_requests;
  std::vector<drafting::VerifiedRequest> verified;
  std::vector<double> chances;
  std::vector<int32_t> depths, slots;

  State(model::Transformer& target_, const text::Tokenizer& tokenizer_, EngineOptions options_)
      : target(target_), tokenizer(tokenizer_), options(std::move(options_)), cache(target.architecture(), options.kv_type, options.kv_positions) {}

  void refresh_options();
  void measure();
  [[nodiscard]] bool plans() const { return options.use_planner && measured; }
  DrafterSlot* find_drafter(const std::string& wanted);
  void admit();
  void start_drafter(Sequence& sequence);
  void drop_cancelled();
  void plan_and_propose();
  static PassSetting setting_of(const Sequence& sequence, int32_t decoding);
  void propose_with(DrafterSlot& slot, int32_t decoding);
  void cut_to_worth(DrafterSlot& slot, Sequence& sequence, int32_t decoding);
  void build_batch();
  void accept_slice(const Slice& slice, const model::Output& output);
  void tell_drafters();
  void retire();
};

// ---- outside the step --------------------------------------------------------------------------------------------------------

Engine::Engine(model::Transformer& target, const text::Tokenizer& tokenizer, EngineOptions options) {
  const int32_t trained = target.architecture().context_length;
  if (options.context_length <= 0) options.context_length = trained;
  if (options.kv_positions <= 0) options.kv_positions = std::max(options.context_length, 16384) + 64LL * options.max_running_requests;
  state_ = std::make_unique<State>(target, tokenizer, std::move(options));
  state_->refresh_options();
}

Engine::~Engine() {
  for (auto& sequence : state_->running) {
    if (sequence->drafter != nullptr) sequence->drafter->drafter->close(sequence->id);
  }
}

Result<void> Engine::add_drafter(const std::string& name, std::unique_ptr<drafting::Drafter> drafter) {
  if (name == "none") return Error{"drafter 'none': the name stands for plain decoding; choose another one"};
  if (state_->find_drafter(name) != nullptr) return Error{"drafter '" + name + "': the name is taken; choose another one"};
  if (state_->drafters.empty()) {
    state_->default_drafter = name;
    if (state_->options.use_planner) state_->measure(), state_->measured = true;  // with nothing running there will never be more room
  }
  state_->drafters.push_back(std::make_unique<DrafterSlot>(DrafterSlot{name, std::move(drafter), {}, {}, false}));
  return {};
}

void Engine::set_default_drafter(const std::string& name) { state_->default_drafter = name; }

std::vector<drafting::DrafterReport> Engine::drafter_reports() const {
  std::vector<drafting::DrafterReport> reports;
  for (const auto& slot : state_->drafters) reports.push_back(slot->drafter->report());
  return reports;
}

Result<uint64_t> Engine::submit(Request request) {
  State& s = *state_;
  s.refresh_options();
  const auto length = static_cast<int64_t>(request.prompt.size());
  if (length == 0)
    return Error{"prompt: expected at least one token, found none; give a text (or let the vocabulary's BOS token begin it)"};
  if (length >= s.options.context_length) {
    return Error{"prompt: expected fewer tokens than the context of " + std::to_string(s.options.context_length) + ", found " +
                 std::to_string(length) + "; shorten it, or raise model.context_length where the model allows"};
  }
  for (const int32_t token : request.prompt) {
    if (token < 0 || token >= s.target.architecture().vocab_size) {
      return Error{"prompt: expected tokens from 0 to " + std::to_string(s.target.architecture().vocab_size - 1) + ", found " +
                   std::to_string(token) + "; use ids of this model's vocabulary"};
    }
  }
  OUTRIDER_CHECK(verify::check(request.sampling, s.target.architecture().vocab_size));
  const std::string& wanted = request.drafter.empty() ? s.default_drafter : request.drafter;
  if (wanted != "none" && s.find_drafter(wanted) == nullptr) {
    std::string known = "none";
    for (const auto& slot : s.drafters) known += ", " + slot->name;
    return Error{"drafter: expected one of " + known + ", found '" + wanted + "'; load it by configuration first"};
  }
  if (static_cast<int64_t>(s.waiting.size()) + request.sampling.n > s.options.queue_capacity) {
    return Error{"queue: " + std::to_string(s.waiting.size()) + " of " + std::to_string(s.options.queue_capacity) +
                 " places are taken; try again later, or raise schedule.queue_capacity"};
  }

  const uint64_t id = s.next_request++;
  request.drafter = wanted;
  if (!request.sampling.seed) {
    std::random_device device;
    request.sampling.seed = (static_cast<uint64_t>(device()) << 32) | device();
  }
  const auto shared = std::make_shared<const Request>(std::move(request));
  State::Outcome& outcome = s.outcomes[id];
  outcome.open = shared->sampling.n;
  outcome.completions.resize(static_cast<size_t>(shared->sampling.n));
  for (int32_t i = 0; i < shared->sampling.n; ++i) {
    auto sequence = std::make_unique<Sequence>(s.next_sequence++, id, i, shared, verify::derived_seed(*shared->sampling.seed, i),
                                               s.tokenizer, s.options.context_length, s.target.isa());
    s.waiting.push_back(std::move(sequence));
  }
  return id;
}

void Engine::cancel(uint64_t request) {
  const std::lock_guard lock(state_->cancel_mutex);
  state_->cancelled.push_back(request);
}

bool Engine::finished(uint64_t request) const {
  const auto found = state_->outcomes.find(request);
  return found == state_->outcomes.end() || found->second.open == 0;
}

std::vector<Completion> Engine::take(uint64_t request) {
  const auto found = state_->outcomes.find(request);
  if (found == state_->outcomes.end()) return {};
  auto completions = std::move(found->second.completions);
  state_->outcomes.erase(found);
  return completions;
}

Result<std::vector<Completion>> Engine::complete(Request request) {
  OUTRIDER_TRY(const uint64_t id, submit(std::move(request)));
  while (!finished(id)) step();
  return take(id);
}

int32_t Engine::context_length() const { return state_->options.context_length; }
const model::Transformer& Engine::target() const { return state_->target; }
int64_t Engine::kv_positions() const { return state_->cache.capacity(); }

size_t Engine::kv_bytes() const { return state_->cache.bytes(); }

const std::vector<double>& Engine::cost_curve() const { return state_->planner.curve().at_start; }

// ---- the step ----------------------------------------------------------------------------------------------------------------

bool Engine::step() {
  State& s = *state_;
  s.refresh_options();
  if (s.options.use_planner && !s.measured && !s.drafters.empty()) s.measure();  // the planner was turned on meanwhile
  s.drop_cancelled();
  s.admit();
  if (s.running.empty()) return !s.waiting.empty();
  s.plan_and_propose();
  s.build_batch();
  const model::Output output = s.target.forward(s.step_batch.batch, s.cache);
  for (const Slice& slice : s.step_batch.slices) s.accept_slice(slice, output);
  s.tell_drafters();
  s.retire();
  return !s.running.empty() || !s.waiting.empty();
}

void Engine::State::refresh_options() {
  if (options.refresh) options.refresh(options);
  if (options.draft_depth <= 0) options.draft_depth = options.draft_tokens;
}

void Engine::State::measure() {
  auto curve = cost_curve_of(target, cache, options);
  if (!curve) return;
  planner = DraftPlanner(*std::move(curve));
  measured = true;
}

DrafterSlot* Engine::State::find_drafter(const std::string& wanted) {
  for (const auto& slot : drafters) {
    if (slot->name == wanted) return slot.get();
  }
  return nullptr;
}

void Engine::State::drop_cancelled() {
  const std::lock_guard lock(cancel_mutex);
  for (const uint64_t request : cancelled) {
    for (auto& sequence : running) {
      if (sequence->request_id == request) sequence->finish(FinishReason::cancelled);
    }
    for (auto& sequence : waiting) {
      if (sequence->request_id == request) sequence->finish(FinishReason::cancelled);
    }
  }
  if (!cancelled.empty()) retire();
  cancelled.clear();
}

// First come, first served: a request that does not fit yet waits, and those behind it with it, so that none starves.
void Engine::State::admit() {
  while (!waiting.empty() && static_cast<int32_t>(running.size()) < options.max_running_requests) {
    Sequence& sequence = *waiting.front();
    // Drafts take what room the cache can ever give beside the output; none of them is a reason to refuse a request.
    const int64_t positions = std::max(sequence.widest(0), std::min(sequence.widest(options.draft_tokens), cache.capacity()));
    if (sequence.remaining() <= 0) {
      sequence.finish(FinishReason::length);
    } else if (positions > cache.capacity()) {
      sequence.finish(FinishReason::error, "memory: the request can need " + std::to_string(positions) + " cache positions of " +
                                               std::to_string(cache.capacity()) + "; lower max_tokens, or raise memory.kv_tokens");
    } else if (auto kv = cache.reserve(positions)) {
      sequence.kv = std::move(*kv);
      sequence.admitted();
      start_drafter(sequence);
    } else {
      return;
    }
    if (sequence.done()) {
      retire();  // it takes no part in the step
      continue;
    }
    running.push_back(std::move(waiting.front()));
    waiting.pop_front();
  }
}

void Engine::State::start_drafter(Sequence& sequence) {
  const Request& request = *sequence.request;
  DrafterSlot* slot = find_drafter(request.drafter);
  if (slot == nullptr) return;
  if (!slot->drafter->open(sequence.id, request.prompt, request.sampling.temperature, sequence.seed, sequence.remaining())) return;
  sequence.drafter = slot;
  sequence.result.drafter = slot->name;
}

// Each drafter is asked once for all its requests. A request that is still reading its prompt is not asked, nor is one whose draft
// would cost more than it is expected to bring.
void Engine::State::plan_and_propose() {
  int32_t decoding = 0;
  for (const auto& sequence : running) {
    sequence->draft.clear();
    decoding += sequence->decoding() ? 1 : 0;
  }
  for (const auto& slot : drafters) propose_with(*slot, decoding);
}

// Every other decoding request is counted as one row that yields one token; the contexts as the request's own.
PassSetting Engine::State::setting_of(const Sequence& sequence, int32_t decoding) {
  return {decoding - 1, static_cast<double>(decoding - 1), static_cast<double>(sequence.length())};
}

void Engine::State::propose_with(DrafterSlot& slot, int32_t decoding) {
  draft_requests.clear();
  for (const auto& sequence : running) {
    if (sequence->drafter != &slot || !sequence->decoding()) continue;
    const int32_t deepest = std::min(options.draft_depth, sequence->remaining() - 1);  // a draft beyond the output's end is of no use
    // The pages were reserved for the draft_tokens of the time of admission; near the output's end they bound a draft that may be wider now.
    const int32_t room = sequence->kv.capacity() - sequence->length();
    int32_t nodes = std::min(options.draft_tokens, room);
    if (plans() && !slot.gives_chances)
      nodes = planner.budget(sequence->history, slot.history, std::min(nodes, deepest), setting_of(*sequence, decoding));
    if (nodes <= 0 || deepest <= 0) continue;
    draft_requests.push_back({sequence->id, sequence->tokens, sequence->new_tokens, nodes, deepest, std::move(sequence->draft)});
    sequence->new_tokens = 0;
  }
  if (draft_requests.empty()) return;
  slot.drafter->propose(draft_requests);
  for (auto& draft_request : draft_requests) {
    const auto owner =
        std::find_if(running.begin(), running.end(), [&](const auto& sequence) { return sequence->id == draft_request.request; });
    (*owner)->draft = std::move(draft_request.draft);
    if (plans()) cut_to_worth(slot, **owner, decoding);
  }
}

// A drafter that says how sure it is has its draft cut where the next node's row would cost more than it brings.
void Engine::State::cut_to_worth(DrafterSlot& slot, Sequence& sequence, int32_t decoding) {
  joint_chances(sequence.draft, chances);
  sequence.expected_correct = 0;
  if (chances.empty()) return;
  slot.gives_chances = true;
  sequence.draft.truncate(planner.worth(chances, slot.calibration.factor(), setting_of(sequence, decoding)));
  chances.resize(static_cast<size_t>(sequence.draft.size()));
  for (const double chance : chances) sequence.expected_correct += chance;
  if (chances.empty()) slot.calibration.record(0, 0);  // forgets a little, so that a drafter once found wrong is tried again
}

// Decoding requests first, then prompts, as far as the pass has room; the rest waits for the next step.
void Engine::State::build_batch() {
  step_batch.clear();
  int32_t room = options.max_batch_rows;
  for (const auto& sequence : running) {
    if (!sequence->decoding() || room < 1) continue;
    if (1 + sequence->draft.size() > room) sequence->draft.clear();
    step_batch.add_decode(*sequence);
    room -= 1 + sequence->draft.size();
  }
  int32_t prefill = std::min(options.prefill_chunk, std::max(room, 1));
  for (const auto& sequence : running) {
    if (sequence->decoding() || prefill < 1) continue;
    step_batch.add_prefill(*sequence, prefill);
    prefill -= step_batch.slices.back().rows;
  }
}

void Engine::State::accept_slice(const Slice& slice, const model::Output& output) {
  Sequence& sequence = *slice.sequence;
  if (!slice.yields) {
    sequence.cached += slice.rows;
    return;
  }
  const auto row = [&](int32_t node) {
    const int32_t i = slice.first_output + 1 + node;
    const verify::TargetRow values{output.logits_of(i), output.arg_max[static_cast<size_t>(i)]};
    if (sequence.request->on_logits) sequence.request->on_logits(values.logits);
    return values;
  };
  const bool decoded = sequence.decoding();
  const int32_t root_slot = sequence.cached + (decoded ? 0 : slice.rows - 1);
  const auto walked = verify::accept(
      sequence.draft, sequence.law, sequence.length(), row, [&](int32_t token) { return sequence.take_token(token); }, sequence.accepted);
  if (!walked.ok()) {
    sequence.finish(FinishReason::error, walked.error().message);
    return;
  }
  const auto correct = static_cast<int32_t>(sequence.accepted.nodes.size());
  if (decoded) {
    ++sequence.result.speculation.rounds;
    sequence.result.speculation.drafted += sequence.draft.size();
    sequence.result.speculation.correct_drafts += correct;
    if (sequence.drafter != nullptr && sequence.draft.size() > 0) {
      depths.resize(static_cast<size_t>(sequence.draft.size()));
      int32_t deepest = 0;
      for (int32_t i = 0; i < sequence.draft.size(); ++i) {
        const int32_t parent = sequence.draft.parents[static_cast<size_t>(i)];
        depths[static_cast<size_t>(i)] = parent < 0 ? 1 : depths[static_cast<size_t>(parent)] + 1;
        deepest = std::max(deepest, depths[static_cast<size_t>(i)]);
      }
      sequence.history.record(deepest, correct);
      sequence.drafter->history.record(deepest, correct);
      if (sequence.expected_correct > 0) sequence.drafter->calibration.record(sequence.expected_correct, correct);
    }
  }
  if (!is_chain(sequence.draft)) {
    slots.clear();
    for (const int32_t node : sequence.accepted.nodes) slots.push_back(root_slot + 1 + node);
    cache.commit_path(sequence.kv, slots, root_slot + 1);
  }
  sequence.cached = root_slot + 1 + correct;
}

// on_verified, one call a drafter, for the requests it proposed for.
void Engine::State::tell_drafters() {
  for (const auto& slot : drafters) {
    verified.clear();
    for (const Slice& slice : step_batch.slices) {
      const Sequence& sequence = *slice.sequence;
      if (sequence.drafter != slot.get() || sequence.draft.size() == 0 || sequence.accepted.tokens.empty()) continue;
      verified.push_back({sequence.id, sequence.accepted.nodes, sequence.accepted.tokens.back()});
    }
    if (!verified.empty()) slot->drafter->on_verified(verified);
  }
}

// Streams what was taken and lets finished sequences go.
void Engine::State::retire() {
  const auto let_go = [this](std::unique_ptr<Sequence>& sequence) {
    sequence->emit();
    if (!sequence->done()) return false;
    if (sequence->drafter != nullptr) sequence->drafter->drafter->close(sequence->id);
    cache.release(sequence->kv);
    Outcome& outcome = outcomes[sequence->request_id];
    outcome.completions[static_cast<size_t>(sequence->index)] = std::move(sequence->result);
    --outcome.open;
    return true;
  };
  std::erase_if(running, let_go);
  std::erase_if(waiting, [&](std::unique_ptr<Sequence>& sequence) { return sequence->done() && let_go(sequence); });
}

}  // namespace outrider::scheduler
