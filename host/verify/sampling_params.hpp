// How a request wants its tokens chosen and when it ends. The defaults are greedy decoding without penalties. The law of a token is made
// in this order: penalties, bias, temperature, top-k, top-p, min-p (top-p over what top-k left, min-p against the best token).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace outrider::verify {

struct SamplingParams {
  float temperature = 0.0F;         // 0: greedy
  int32_t top_k = 0;                // 0: all
  float top_p = 1.0F;               // (0, 1]
  float min_p = 0.0F;               // [0, 1)
  float repetition_penalty = 1.0F;  // > 0; divides positive and multiplies negative logits of tokens in prompt or output
  float presence_penalty = 0.0F;    // subtracted once from tokens in the output
  float frequency_penalty = 0.0F;   // subtracted for each occurrence in the output
  std::vector<std::pair<int32_t, float>> logit_bias;  // token, added to its logit
  std::optional<uint64_t> seed;     // absent: drawn once when the request arrives

  int32_t max_tokens = std::numeric_limits<int32_t>::max();  // of output; the context's end stops a request as well
  bool ignore_eos = false;          // decode past end-of-generation tokens
  std::vector<std::string> stop;    // texts that end the output and are not part of it
  std::vector<int32_t> stop_tokens; // tokens that end the output
  int32_t n = 1;                    // completions of the same prompt, with seeds derived from `seed`

  [[nodiscard]] bool greedy() const { return temperature == 0.0F; }
  [[nodiscard]] bool has_penalties() const { return repetition_penalty != 1.0F || presence_penalty != 0.0F || frequency_penalty != 0.0F; }
};

// Errors: a value outside its range, or a token outside the vocabulary, named.
Result<void> check(const SamplingParams& params, int32_t vocab_size);

}  // namespace outrider::verify
