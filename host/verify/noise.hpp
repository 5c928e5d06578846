// Counter-based Gumbel noise: G(seed, position, token) is a pure function, so the same request draws the same noise whatever was
// drafted, batched or evaluated before. Plain integer and double arithmetic without the C library, hence equal on every machine.
#pragma once

#include <cstdint>

namespace outrider::verify {

// 32 uniform bits for (seed, position, token).
class NoiseStream {
 public:
  NoiseStream(uint64_t seed, int64_t position);
  [[nodiscard]] uint32_t bits(int32_t token) const;

 private:
  uint64_t key_;
};

// -log(-log(u)) with u = (bits + 1/2) / 2^32: standard Gumbel noise, between -3.2 and +22.9.
double gumbel(uint32_t bits);

// Whether noise of these bits can reach `level` at all: false proves gumbel(bits) < level. Much cheaper than gumbel, and the reason
// that sampling a token from a large vocabulary evaluates few logarithms. Since 1 - exp(-exp(-g)) <= exp(-g) <= 2^-floor(g), noise above g
// needs 1 - u < 2^-floor(g / ln 2).
inline bool may_reach(uint32_t bits, double level) {
  if (level <= 0) return true;
  if (level > 23) return false;  // above the greatest noise there is
  const int halvings = static_cast<int>(level * 1.4426950408889634);
  const uint32_t below_one = ~bits;  // 1 - u, in units of 2^-32
  return halvings == 0 || halvings >= 32 ? halvings == 0 || below_one == 0 : below_one >> (32 - halvings) == 0;
}

// The seed of completion `index` of a request with n > 1; index 0 keeps the request's own.
uint64_t derived_seed(uint64_t seed, int32_t index);

}  // namespace outrider::verify
