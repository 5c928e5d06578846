// How often a continuation came true, by how many tokens matched before it: the drafter's confidence. Counted in one request only, so that
// no request's drafts depend on another's text; drawn towards a prior while little is known. Old rounds fade, since texts change.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace ngram {

class HitRates {
 public:
  static constexpr uint32_t kBuckets = 8;

  // Matched lengths 1, 2, 3, 4, 5, 6–8, 9–15, 16 and more.
  static uint32_t bucket(uint32_t length) {
    if (length <= 5) return length == 0 ? 0 : length - 1;
    return length <= 8 ? 5 : length <= 15 ? 6 : 7;
  }

  // The chance that the token after a match of `length` tokens comes again.
  [[nodiscard]] float rate(uint32_t length) const {
    const uint32_t b = bucket(length);
    return (hits_[b] + kPriorWeight * kPrior[b]) / (trials_[b] + kPriorWeight);
  }

  void record(uint32_t length, bool hit) {
    const uint32_t b = bucket(length);
    trials_[b] = trials_[b] * kFade + 1.0F;
    hits_[b] = hits_[b] * kFade + (hit ? 1.0F : 0.0F);
  }

  // Counts as they are saved and loaded. False, and nothing changed, for numbers that no counting could have made.
  [[nodiscard]] const std::array<float, kBuckets>& hits() const { return hits_; }
  [[nodiscard]] const std::array<float, kBuckets>& trials() const { return trials_; }
  bool restore(const std::array<float, kBuckets>& hits, const std::array<float, kBuckets>& trials) {
    for (uint32_t b = 0; b < kBuckets; ++b) {
      if (!(hits[b] >= 0.0F && hits[b] <= trials[b] && trials[b] <= 1.001F / (1.0F - kFade))) return false;
    }
    hits_ = hits, trials_ = trials;
    return true;
  }

 private:
  static constexpr float kPriorWeight = 12.0F;
  static constexpr float kFade = 0.99F;
  // As observed over 26 Spec-Bench questions of all categories, answered by SmolLM2-135M-Instruct at temperature 0. A longer match is more
  // often right; two equal tokens say little.
  static constexpr std::array<float, kBuckets> kPrior = {0.18F, 0.42F, 0.56F, 0.70F, 0.73F, 0.79F, 0.88F, 0.96F};
  std::array<float, kBuckets> hits_{}, trials_{};
};

}  // namespace ngram
