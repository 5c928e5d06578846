// A chi-square test of counts against a law: cells with an expectation below 5 are pooled, and the law is refused at a chance of
// error of 1e-6 (quantile by Wilson and Hilferty, 1931).
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace outrider::tests {

inline bool chi_square_accepts(const std::vector<int64_t>& counts, const std::vector<double>& expected, int64_t samples) {
  double statistic = 0, pooled_expected = 0, pooled_count = 0;
  int cells = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double e = expected[i] * static_cast<double>(samples), o = static_cast<double>(counts[i]);
    if (e == 0 && o > 0) return false;
    if (e < 5) {
      pooled_expected += e, pooled_count += o;
      continue;
    }
    statistic += (o - e) * (o - e) / e;
    ++cells;
  }
  if (pooled_expected >= 5) {
    statistic += (pooled_count - pooled_expected) * (pooled_count - pooled_expected) / pooled_expected;
    ++cells;
  } else if (pooled_count > pooled_expected + 40) {
    return false;
  }
  if (cells < 2) return true;
  const double freedom = cells - 1, z = 4.7534;  // 1 - 1e-6 of the normal law
  const double root = 1 - 2 / (9 * freedom) + z * std::sqrt(2 / (9 * freedom));
  return statistic <= freedom * root * root * root;
}

}  // namespace outrider::tests
