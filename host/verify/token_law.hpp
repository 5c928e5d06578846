// The law of a request's next token, and the token it decides for. Both laws are functions of (logits, request, seed, position) alone, so
// what was drafted can change when a token is computed but never which it is:
//   greedy   argmax of the logits after penalties and bias, lowest id on ties
//   coupled  argmax over what top-k, top-p and min-p left of logit / temperature + G(seed, position, token), G Gumbel noise
//            (Daliri, Musco, Suresh, arXiv 2408.07978: a sample of the law, shared by every way of decoding)
// One object serves one completion; not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.hpp"
#include "kernels/cpu/isa.hpp"
#include "verify/sampling_params.hpp"

namespace outrider::verify {

// One row of the target's output, as far as a law needs it.
struct TargetRow {
  static constexpr int32_t kUnknown = -2;
  std::span<const float> logits;  // (vocab); may be empty where needs_logits() is false
  int32_t arg_max = kUnknown;     // of the logits, as kernels::arg_max gives it (-1: NaN or infinity), when it is known already
};

class TokenLaw {
 public:
  TokenLaw(const SamplingParams& params, uint64_t seed, std::span<const int32_t> prompt, kernels::Isa isa);

  // Whether choose() reads logits; else the row's arg max is the token.
  [[nodiscard]] bool needs_logits() const { return !params_.greedy() || changes_logits(); }

  // The token at absolute position `position`, given its row. Errors: a NaN or +inf in the row.
  Result<int32_t> choose(const TargetRow& row, int64_t position);
  Result<int32_t> choose(std::span<const float> logits, int64_t position) { return choose(TargetRow{logits}, position); }

  // Tells the law that `token` was emitted: penalties count it from now on.
  void observe(int32_t token);

 private:
  [[nodiscard]] bool changes_logits() const { return params_.has_penalties() || !params_.logit_bias.empty(); }
  std::span<const float> adjusted(std::span<const float> logits);
  int32_t sample(std::span<const float> logits, int32_t most_probable, int64_t position);
  void filter(std::span<const float> logits, float max);

  struct Candidate {
    int32_t token;
    float logit;
  };

  SamplingParams params_;
  uint64_t seed_;
  kernels::Isa isa_;
  std::unordered_set<int32_t> seen_;                   // prompt and output; kept only under a repetition penalty
  std::unordered_map<int32_t, int32_t> output_count_;  // kept only under presence and frequency penalties
  std::vector<float> row_;                             // the adjusted copy
  std::vector<int32_t> ids_;
  std::vector<Candidate> candidates_;
};

}  // namespace outrider::verify
