// RoPE angles with scaling, kept as a table that grows with the positions in use (cos and sin of one position take
// rotary floats). The table depends on its base and scaling alone and is the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "model/architecture.hpp"

namespace outrider::model {

// The angle each pair of features turns by at every position, after scaling: (rotary / 2).
// Linear scaling divides by the factor; YaRN blends by wavelength (arXiv 2309.00071, section 3.2); Llama 3 gives divisors.
std::vector<double> rope_frequencies(int32_t rotary, double base, const RopeScaling& scaling);

class RopeTable {
 public:
  RopeTable(int32_t rotary, double base, const RopeScaling& scaling);

  // Makes rows for positions [0, positions) readable. Not thread-safe against row().
  void grow(int32_t positions);
  [[nodiscard]] const float* row(int32_t position) const { return table_.data() + static_cast<size_t>(position) * rotary_; }

 private:
  std::vector<double> frequencies_;
  float magnitude_;
  int32_t rotary_;
  int32_t positions_ = 0;
  std::vector<float> table_;  // [positions][cos(rotary/2), sin(rotary/2)]
};

}  // namespace outrider::model
