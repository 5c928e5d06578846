// The engine: one step loop for plain and speculative decoding and for many requests at once. A request joins and leaves at any step;
// prompts are prefilled in chunks beside requests that decode. A step is four verbs: admit, plan (and propose), run the target, accept.
// The engine belongs to one thread; cancel() alone may be called from any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "drafting/drafter.hpp"
#include "model/kv_cache.hpp"
#include "model/transformer.hpp"
#include "text/tokenizer.hpp"
#include "verify/sampling_params.hpp"

namespace outrider::scheduler {

enum class FinishReason { stop, length, cancelled, error };
std::string_view name(FinishReason reason);  // "stop", "length", "cancelled", "error"

struct SpeculationStats {
  int64_t rounds = 0;          // target passes that produced output tokens
  int64_t drafted = 0;         // tokens proposed and verified
  int64_t correct_drafts = 0;  // of those, accepted

  // Accepted tokens a round: correct drafts and the bonus token. 1 is plain decoding; 0 when nothing was decoded.
  [[nodiscard]] double acceptance_length() const {
    return rounds == 0 ? 0.0 : static_cast<double>(correct_drafts + rounds) / static_cast<double>(rounds);
  }
};

struct Timing {
  double prefill_seconds = 0;  // from admission to the first token
  double decode_seconds = 0;   // from the first token to the last
  int64_t prefill_tokens = 0;
  int64_t decode_tokens = 0;  // output tokens after the first

  [[nodiscard]] double prefill_tokens_per_second() const {
    return prefill_seconds > 0 ? static_cast<double>(prefill_tokens) / prefill_seconds : 0;
  }
  [[nodiscard]] double decode_tokens_per_second() const {
    return decode_seconds > 0 ? static_cast<double>(decode_tokens) / decode_seconds : 0;
  }
};

// What came of one completion (a request with n > 1 has n of them).
struct Completion {
  std::vector<int32_t> token_ids;  // output, a stop token included, what follows a stop text not
  std::string text;                // the output as text: no stop token, no stop text
  FinishReason finish_reason = FinishReason::stop;
  std::string error;  // why, when finish_reason is error
  int64_t prompt_tokens = 0;
  std::string drafter;  // the one that served it; "none" for plain decoding
  SpeculationStats speculation;
  Timing timing;
};

// A piece of output. `tokens` and `text` need not end at the same place: text that might be the start of a stop text, and half a
// character, wait.
struct StreamEvent {
  int32_t completion;  // 0 … n-1
  std::span<const int32_t> tokens;
  std::string_view text;
};

struct Request {
  std::vector<int32_t> prompt;
  verify::SamplingParams sampling;
  std::string drafter;                                    // "" is the engine's default, "none" is plain decoding
  std::function<void(const StreamEvent&)> on_output;      // optional; called from step()
  std::function<void(std::span<const float>)> on_logits;  // optional, for tests: every row a token was chosen from, in order
};

struct EngineOptions {
  int32_t max_running_requests = 16;
  int32_t queue_capacity = 1024;
  int32_t max_batch_rows = 512;  // rows of one target pass
  int32_t prefill_chunk = 256;   // prompt rows of one target pass
  int64_t kv_positions = 0;      // 0: the model's context length
  kernels::KvType kv_type = kernels::KvType::f16;
  int32_t context_length = 0;        // 0: the model's
  int32_t draft_tokens = 8;          // nodes of a draft, at most
  int32_t draft_depth = 0;           // 0: as many as draft_tokens
  bool use_planner = true;           // false: always ask for draft_tokens
  std::string pass_times_file = {};  // where times of passes are kept between starts (cost_curve.hpp); empty: nowhere
  std::string pass_times_key = {};   // what they hold for: model, machine, threads

  // Brings queue_capacity, prefill_chunk, draft_tokens, draft_depth and use_planner up to date; called at each submit() and step(), on their
  // thread. The other members are fixed once the engine is made. Absent: all stay as given.
  std::function<void(EngineOptions&)> refresh = {};
};

class Engine {
 public:
  Engine(model::Transformer& target, const text::Tokenizer& tokenizer, EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Makes a drafter available under `name`; the first one is the default. Errors: the name is taken or reserved ("none").
  Result<void> add_drafter(const std::string& name, std::unique_ptr<drafting::Drafter> drafter);
  void set_default_drafter(const std::string& name);  // "none": plain
  [[nodiscard]] std::vector<drafting::DrafterReport> drafter_reports() const;

  // Queues a request. Errors: empty prompt, prompt not shorter than the context, parameters out of range, unknown drafter, queue full.
  Result<uint64_t> submit(Request request);
  void cancel(uint64_t request);

  // One step. False when there is nothing to do.
  bool step();

  [[nodiscard]] bool finished(uint64_t request) const;
  // The completions of a finished request, which is then forgotten.
  std::vector<Completion> take(uint64_t request);

  // Submits, steps until it is finished, takes. Other requests progress too.
  Result<std::vector<Completion>> complete(Request request);

  [[nodiscard]] int32_t context_length() const;
  [[nodiscard]] int64_t kv_positions() const;  // the KV cache has room for, over all requests
  [[nodiscard]] size_t kv_bytes() const;       // its size when full
  [[nodiscard]] const model::Transformer& target() const;
  // Seconds of one target pass over M rows, relative to one row, as measured when the engine was made: cost_curve()[M].
  [[nodiscard]] const std::vector<double>& cost_curve() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace outrider::scheduler
