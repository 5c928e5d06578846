#include "verify/noise.hpp"

#include <bit>

namespace outrider::verify {
namespace {

// A bijective mixer of 64 bits (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
constexpr uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// Natural logarithm of x > 0: x = m 2^e with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh((m - 1) / (m + 1)) by its series. The 12 terms
// leave an error below 1e-17 of the result's scale; what matters more is that no step is left to a library or to contraction.
double natural_log(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double t = (m - 1.0) / (m + 1.0);
  const double t2 = t * t;
  double series = 0.0;
  for (int k = 23; k >= 1; k -= 2) series = series * t2 + 1.0 / k;
  return 2.0 * t * series + exponent * 0.6931471805599453;
}

}  // namespace

NoiseStream::NoiseStream(uint64_t seed, int64_t position) : key_(mix(mix(seed) ^ static_cast<uint64_t>(position))) {}

uint32_t NoiseStream::bits(int32_t token) const { return static_cast<uint32_t>(mix(key_ ^ static_cast<uint64_t>(static_cast<uint32_t>(token))) >> 32); }

double gumbel(uint32_t bits) {
  // u and 1 - u are exact in double; near 1 the logarithm is taken of the small side for accuracy.
  const double u = (bits + 0.5) / 4294967296.0;
  return -natural_log(-natural_log(u));
}

uint64_t derived_seed(uint64_t seed, int32_t index) { return index == 0 ? seed : mix(seed + mix(static_cast<uint64_t>(index))); }

}  // namespace outrider::verify
