#include "model/rope.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace outrider::model {
namespace {

// How far a pair is left alone (0) or interpolated (1), by how often it turns within the original context.
long double yarn_interpolation(const RopeScaling& scaling, int32_t rotary, double base, int32_t pair) {
  const auto pair_turning = [&](long double turns) {
    return static_cast<long double>(rotary) *
           std::log(static_cast<long double>(scaling.original_context_length) / (turns * 2 * std::numbers::pi_v<long double>)) /
           (2 * std::log(static_cast<long double>(base)));
  };
  const long double low = std::max(0.0L, std::floor(pair_turning(static_cast<long double>(scaling.beta_fast))));
  const long double high = std::min(rotary - 1.0L, std::ceil(pair_turning(static_cast<long double>(scaling.beta_slow))));
  return std::clamp((static_cast<long double>(pair) - low) / std::max(0.001L, high - low), 0.0L, 1.0L);
}

}  // namespace

std::vector<double> rope_frequencies(int32_t rotary, double base, const RopeScaling& scaling) {
  std::vector<double> frequencies(static_cast<size_t>(rotary / 2));
  for (int32_t pair = 0; pair < rotary / 2; ++pair) {
    long double frequency = std::pow(static_cast<long double>(base), -2.0L * pair / rotary);
    if (!scaling.divisors.empty()) frequency /= static_cast<long double>(scaling.divisors[static_cast<size_t>(pair)]);
    if (scaling.kind == RopeScaling::Kind::linear) frequency /= static_cast<long double>(scaling.factor);
    if (scaling.kind == RopeScaling::Kind::yarn) {
      const long double interpolated = frequency / static_cast<long double>(scaling.factor);
      const long double share = yarn_interpolation(scaling, rotary, base, pair);
      frequency = interpolated * share + frequency * (1 - share);
    }
    frequencies[static_cast<size_t>(pair)] = static_cast<double>(frequency);
  }
  return frequencies;
}

RopeTable::RopeTable(int32_t rotary, double base, const RopeScaling& scaling)
    : frequencies_(rope_frequencies(rotary, base, scaling)),
      magnitude_(scaling.kind == RopeScaling::Kind::yarn ? scaling.attention_factor : 1.0F),
      rotary_(rotary) {}

void RopeTable::grow(int32_t positions) {
  if (positions <= positions_) return;
  constexpr int32_t kBlock = 256;  // about 2 ms of sines for a head of 64
  positions = (positions + kBlock - 1) / kBlock * kBlock;
  table_.resize(static_cast<size_t>(positions) * rotary_);
  for (int32_t position = positions_; position < positions; ++position) {
    kernels::rope_table_row(position, frequencies_, magnitude_, table_.data() + static_cast<size_t>(position) * rotary_);
  }
  positions_ = positions;
}

}  // namespace outrider::model
