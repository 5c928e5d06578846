// One completion in flight: its tokens, its share of the KV cache, its law, its text and its drafter. take_token() is the one place where
// output is trimmed (stop token, stop text, length): what it refuses, no counter, stream or cache sees.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "scheduler/engine.hpp"
#include "scheduler/planner.hpp"
#include "text/detokenizer.hpp"
#include "verify/acceptance.hpp"
#include "verify/draft_tree.hpp"
#include "verify/token_law.hpp"

namespace outrider::scheduler {

// One loaded drafter with what is known of its drafts over all requests.
struct DrafterSlot {
  std::string name;
  std::unique_ptr<drafting::Drafter> drafter;
  AcceptanceHistory history;
  Calibration calibration;
  bool gives_chances = false;  // its drafts carry log_q: they are cut by it rather than by the history
};

class Sequence {
 public:
  using Clock = std::chrono::steady_clock;

  Sequence(uint64_t id, uint64_t request_id, int32_t index, std::shared_ptr<const Request> request, uint64_t seed,
           const text::Tokenizer& tokenizer, int32_t context_length, kernels::Isa isa);

  // Identity.
  const uint64_t id;  // of this completion; what drafters know it by
  const uint64_t request_id;
  const int32_t index;  // 0 … n-1
  const uint64_t seed;
  const std::shared_ptr<const Request> request;

  // Progress. tokens = prompt and output; the last one is the root: emitted, not yet in the cache, unless prompt is still to be prefilled.
  std::vector<int32_t> tokens;
  int32_t cached = 0;  // positions in the cache
  model::KvSequence kv;
  verify::TokenLaw law;
  DrafterSlot* drafter = nullptr;  // null: plain decoding
  AcceptanceHistory history;
  verify::DraftTree draft;      // of this step
  int32_t new_tokens = 0;       // since the drafter was last told
  verify::Acceptance accepted;  // of this step's draft
  double expected_correct = 0;  // of this step's draft, by the drafter's own estimates
  Completion result;

  [[nodiscard]] int32_t length() const { return static_cast<int32_t>(tokens.size()); }
  [[nodiscard]] int32_t pending() const { return length() - cached; }  // rows to run before the next token is known
  [[nodiscard]] bool decoding() const { return pending() == 1 && generated() > 0; }
  [[nodiscard]] int32_t generated() const { return length() - prompt_length_; }
  [[nodiscard]] int32_t remaining() const;                   // output tokens it may still take
  [[nodiscard]] int64_t widest(int32_t draft_tokens) const;  // cache positions it can ever need
  [[nodiscard]] bool done() const { return done_; }

  void admitted() { started_ = Clock::now(); }
  // Appends an output token and its text. False when the output ends with it.
  bool take_token(int32_t token);
  // Hands what was taken since the last call to the request's on_output.
  void emit();
  void finish(FinishReason reason, std::string error = {});

 private:
  bool stops(int32_t token) const;

  const text::Tokenizer& tokenizer_;
  int32_t prompt_length_;
  int32_t most_tokens_;  // prompt and output
  text::DetokenizerStream stream_;
  size_t emitted_tokens_ = 0, emitted_text_ = 0;
  Clock::time_point started_, first_token_;
  bool done_ = false;
};

}  // namespace outrider::scheduler
