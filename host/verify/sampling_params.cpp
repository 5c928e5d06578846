#include "verify/sampling_params.hpp"

#include <cmath>

namespace outrider::verify {
namespace {

Error out_of_range(const std::string& field, const std::string& expected, double found) {
  std::string text = std::to_string(found);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return {field + ": expected " + expected + ", found " + text};
}

}  // namespace

Result<void> check(const SamplingParams& p, int32_t vocab_size) {
  if (!(p.temperature >= 0) || !std::isfinite(p.temperature)) return out_of_range("temperature", "0 (greedy) or a finite number above", p.temperature);
  if (p.top_k < 0) return out_of_range("top_k", "0 (all) or more", p.top_k);
  if (!(p.top_p > 0 && p.top_p <= 1)) return out_of_range("top_p", "above 0, at most 1", p.top_p);
  if (!(p.min_p >= 0 && p.min_p < 1)) return out_of_range("min_p", "0 or more, below 1", p.min_p);
  if (!(p.repetition_penalty > 0) || !std::isfinite(p.repetition_penalty)) {
    return out_of_range("repetition_penalty", "a finite number above 0 (1 is none)", p.repetition_penalty);
  }
  if (!std::isfinite(p.presence_penalty)) return out_of_range("presence_penalty", "a finite number", p.presence_penalty);
  if (!std::isfinite(p.frequency_penalty)) return out_of_range("frequency_penalty", "a finite number", p.frequency_penalty);
  if (p.max_tokens < 0) return out_of_range("max_tokens", "0 or more", p.max_tokens);
  if (p.n < 1 || p.n > 128) return out_of_range("n", "1 to 128", p.n);
  const std::string in_vocabulary = "a token from 0 to " + std::to_string(vocab_size - 1);
  for (const auto& [token, bias] : p.logit_bias) {
    if (token < 0 || token >= vocab_size) return out_of_range("logit_bias", in_vocabulary, token);
    if (std::isnan(bias) || bias == INFINITY) return out_of_range("logit_bias", "a finite number or -inf", static_cast<double>(bias));
  }
  for (const int32_t token : p.stop_tokens) {
    if (token < 0 || token >= vocab_size) return out_of_range("stop_tokens", in_vocabulary, token);
  }
  for (const std::string& stop : p.stop) {
    if (stop.empty()) return Error{"stop: expected a text of at least one character, found an empty one; leave it out"};
  }
  return {};
}

}  // namespace outrider::verify
