// Sixteen virtual lanes as a plain array: the vocabulary that math_body.inl and attention_body.inl are written in, for any
// processor. Each operation is what one AVX-512 instruction does to each lane; lanes_avx2.hpp and lanes_avx512.hpp mirror this file.
// Everything has internal linkage, so that no other file can be given this one's code by the linker.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/half.hpp"

namespace outrider::kernels {
namespace {

struct Lanes { float v[16]; };

inline constexpr bool kWidenShared = false;
inline constexpr int kAccumulators = 6;  // how many Lanes an inner loop may keep as running sums

#define OUTRIDER_EACH_LANE(expression) \
  Lanes out;                           \
  for (int i = 0; i < 16; ++i) out.v[i] = (expression); \
  return out

[[maybe_unused]] inline Lanes splat(float x) { OUTRIDER_EACH_LANE(x); }
[[maybe_unused]] inline Lanes load(const float* p) { OUTRIDER_EACH_LANE(p[i]); }
[[maybe_unused]] inline Lanes load(const uint16_t* p) { OUTRIDER_EACH_LANE(f16_to_f32(p[i])); }
[[maybe_unused]] inline Lanes load(const int8_t* p) { OUTRIDER_EACH_LANE(static_cast<float>(p[i])); }
[[maybe_unused]] inline Lanes load_first(const float* p, int n, float others) { OUTRIDER_EACH_LANE(i < n ? p[i] : others); }
[[maybe_unused]] inline void store(float* p, Lanes a) { std::memcpy(p, a.v, sizeof a.v); }
[[maybe_unused]] inline void store(uint16_t* p, Lanes a) { for (int i = 0; i < 16; ++i) p[i] = f32_to_f16(a.v[i]); }
// Rounds to nearest even; every lane must then lie within [-128, 127].
[[maybe_unused]] inline void store(int8_t* p, Lanes a) {
  for (int i = 0; i < 16; ++i) p[i] = static_cast<int8_t>(__builtin_nearbyintf(a.v[i]));
}
[[maybe_unused]] inline void store_first(float* p, Lanes a, int n) { std::memcpy(p, a.v, sizeof(float) * static_cast<size_t>(n)); }

[[maybe_unused]] inline Lanes add(Lanes a, Lanes b) { OUTRIDER_EACH_LANE(a.v[i] + b.v[i]); }
[[maybe_unused]] inline Lanes subtract(Lanes a, Lanes b) { OUTRIDER_EACH_LANE(a.v[i] - b.v[i]); }
[[maybe_unused]] inline Lanes multiply(Lanes a, Lanes b) { OUTRIDER_EACH_LANE(a.v[i] * b.v[i]); }
[[maybe_unused]] inline Lanes divide(Lanes a, Lanes b) { OUTRIDER_EACH_LANE(a.v[i] / b.v[i]); }
[[maybe_unused]] inline Lanes fused(Lanes a, Lanes b, Lanes c) { OUTRIDER_EACH_LANE(__builtin_fmaf(a.v[i], b.v[i], c.v[i])); }
[[maybe_unused]] inline Lanes negate(Lanes a) { OUTRIDER_EACH_LANE(-a.v[i]); }
[[maybe_unused]] inline Lanes magnitude(Lanes a) { OUTRIDER_EACH_LANE(__builtin_fabsf(a.v[i])); }
[[maybe_unused]] inline Lanes greater(Lanes a, Lanes b) { OUTRIDER_EACH_LANE(a.v[i] > b.v[i] ? a.v[i] : b.v[i]); }

// Lane i of a when i < n, else 0.
[[maybe_unused]] inline Lanes keep_first(Lanes a, int n) { OUTRIDER_EACH_LANE(i < n ? a.v[i] : 0.0f); }
// `then` where x < limit (x > limit), else `otherwise`; a NaN chooses `otherwise`.
[[maybe_unused]] inline Lanes where_below(Lanes x, float limit, float then, Lanes otherwise) {
  OUTRIDER_EACH_LANE(x.v[i] < limit ? then : otherwise.v[i]);
}
[[maybe_unused]] inline Lanes where_above(Lanes x, float limit, float then, Lanes otherwise) {
  OUTRIDER_EACH_LANE(x.v[i] > limit ? then : otherwise.v[i]);
}
// bits(p) + (bits(t) << 23): p times 2 to the power that the low bits of t hold.
[[maybe_unused]] inline Lanes add_exponent(Lanes p, Lanes t) {
  OUTRIDER_EACH_LANE(std::bit_cast<float>(std::bit_cast<uint32_t>(p.v[i]) + (std::bit_cast<uint32_t>(t.v[i]) << 23)));
}
#undef OUTRIDER_EACH_LANE

// Bit i is set when lane i of a is at least (not below; NaN is not below) that of b.
[[maybe_unused]] inline uint32_t bits_at_least(Lanes a, Lanes b) {
  uint32_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= static_cast<uint32_t>(a.v[i] >= b.v[i]) << i;
  return bits;
}
[[maybe_unused]] inline uint32_t bits_not_below(Lanes a, Lanes b) {
  uint32_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= static_cast<uint32_t>(!(a.v[i] < b.v[i])) << i;
  return bits;
}
[[maybe_unused]] inline uint32_t bits_equal(Lanes a, Lanes b) {
  uint32_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= static_cast<uint32_t>(a.v[i] == b.v[i]) << i;
  return bits;
}

// The fixed tree of math.hpp: i + (i + 8), then + 4, + 2, + 1.
[[maybe_unused]] inline float tree_sum(Lanes a) {
  for (int step = 8; step > 0; step /= 2)
    for (int i = 0; i < step; ++i) a.v[i] = a.v[i] + a.v[i + step];
  return a.v[0];
}
[[maybe_unused]] inline float tree_greater(Lanes a) {
  for (int step = 8; step > 0; step /= 2)
    for (int i = 0; i < step; ++i) a.v[i] = a.v[i] > a.v[i + step] ? a.v[i] : a.v[i + step];
  return a.v[0];
}

// 32 floats to and from their even and odd elements.
[[maybe_unused]] inline void load_pairs(const float* p, Lanes& even, Lanes& odd) {
  for (int i = 0; i < 16; ++i) even.v[i] = p[2 * i], odd.v[i] = p[2 * i + 1];
}
[[maybe_unused]] inline void store_pairs(float* p, Lanes even, Lanes odd) {
  for (int i = 0; i < 16; ++i) p[2 * i] = even.v[i], p[2 * i + 1] = odd.v[i];
}

// Writes first + i for each set bit i, ascending, and returns how many. May write up to 16 elements.
[[maybe_unused]] inline int store_set_bits(int32_t* out, uint32_t bits, int32_t first) {
  int count = 0;
  for (; bits != 0; bits &= bits - 1) out[count++] = first + __builtin_ctz(bits);
  return count;
}

[[maybe_unused]] inline void prefetch(const void*) {}

}  // namespace
}  // namespace outrider::kernels
