// Sixteen virtual lanes as two AVX registers (AVX2, FMA and F16C). lanes_scalar.hpp says what each operation means.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace outrider::kernels {
namespace {

struct Lanes { __m256 low, high; };

inline constexpr bool kWidenShared = true;  // of attention: six sums serve three queries at a time
inline constexpr int kAccumulators = 6;  // twelve of the sixteen registers

// All ones in the lanes below n.
inline __m256i first_mask(int n) { return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); }
inline __m256 load_first_half(const float* p, int n, float others) {
  const __m256i mask = first_mask(n);
  return _mm256_blendv_ps(_mm256_set1_ps(others), _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
}

[[maybe_unused]] inline Lanes splat(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
[[maybe_unused]] inline Lanes load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
[[maybe_unused]] inline Lanes load(const uint16_t* p) {
  const __m128i* halves = reinterpret_cast<const __m128i*>(p);
  return {_mm256_cvtph_ps(_mm_loadu_si128(halves)), _mm256_cvtph_ps(_mm_loadu_si128(halves + 1))};
}
inline __m256 load_half(const int8_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
[[maybe_unused]] inline Lanes load(const int8_t* p) { return {load_half(p), load_half(p + 8)}; }
[[maybe_unused]] inline Lanes load_first(const float* p, int n, float others) {
  return {load_first_half(p, n, others), load_first_half(p + 8, n - 8, others)};
}
[[maybe_unused]] inline void store(float* p, Lanes a) {
  _mm256_storeu_ps(p, a.low);
  _mm256_storeu_ps(p + 8, a.high);
}
[[maybe_unused]] inline void store(uint16_t* p, Lanes a) {
  __m128i* halves = reinterpret_cast<__m128i*>(p);
  _mm_storeu_si128(halves, _mm256_cvtps_ph(a.low, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  _mm_storeu_si128(halves + 1, _mm256_cvtps_ph(a.high, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
inline __m128i to_words(__m256 a) {
  const __m256i integers = _mm256_cvtps_epi32(a);
  return _mm_packs_epi32(_mm256_castsi256_si128(integers), _mm256_extracti128_si256(integers, 1));
}
[[maybe_unused]] inline void store(int8_t* p, Lanes a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(to_words(a.low), to_words(a.high)));
}
[[maybe_unused]] inline void store_first(float* p, Lanes a, int n) {
  _mm256_maskstore_ps(p, first_mask(n), a.low);
  _mm256_maskstore_ps(p + 8, first_mask(n - 8), a.high);
}

[[maybe_unused]] inline Lanes add(Lanes a, Lanes b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
[[maybe_unused]] inline Lanes subtract(Lanes a, Lanes b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
[[maybe_unused]] inline Lanes multiply(Lanes a, Lanes b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
[[maybe_unused]] inline Lanes divide(Lanes a, Lanes b) { return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
[[maybe_unused]] inline Lanes fused(Lanes a, Lanes b, Lanes c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
[[maybe_unused]] inline Lanes negate(Lanes a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_xor_ps(a.low, sign), _mm256_xor_ps(a.high, sign)};
}
[[maybe_unused]] inline Lanes magnitude(Lanes a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, a.low), _mm256_andnot_ps(sign, a.high)};
}
[[maybe_unused]] inline Lanes greater(Lanes a, Lanes b) { return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)}; }

[[maybe_unused]] inline Lanes keep_first(Lanes a, int n) {
  return {_mm256_and_ps(a.low, _mm256_castsi256_ps(first_mask(n))), _mm256_and_ps(a.high, _mm256_castsi256_ps(first_mask(n - 8)))};
}
[[maybe_unused]] inline Lanes where_below(Lanes x, float limit, float then, Lanes otherwise) {
  const __m256 limits = _mm256_set1_ps(limit), thens = _mm256_set1_ps(then);
  return {_mm256_blendv_ps(otherwise.low, thens, _mm256_cmp_ps(x.low, limits, _CMP_LT_OQ)),
          _mm256_blendv_ps(otherwise.high, thens, _mm256_cmp_ps(x.high, limits, _CMP_LT_OQ))};
}
[[maybe_unused]] inline Lanes where_above(Lanes x, float limit, float then, Lanes otherwise) {
  const __m256 limits = _mm256_set1_ps(limit), thens = _mm256_set1_ps(then);
  return {_mm256_blendv_ps(otherwise.low, thens, _mm256_cmp_ps(x.low, limits, _CMP_GT_OQ)),
          _mm256_blendv_ps(otherwise.high, thens, _mm256_cmp_ps(x.high, limits, _CMP_GT_OQ))};
}
inline __m256 add_exponent_half(__m256 p, __m256 t) {
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), _mm256_slli_epi32(_mm256_castps_si256(t), 23)));
}
[[maybe_unused]] inline Lanes add_exponent(Lanes p, Lanes t) {
  return {add_exponent_half(p.low, t.low), add_exponent_half(p.high, t.high)};
}

template <int kPredicate>
inline uint32_t compare_bits(Lanes a, Lanes b) {
  return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a.low, b.low, kPredicate))) |
         static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a.high, b.high, kPredicate))) << 8;
}
[[maybe_unused]] inline uint32_t bits_at_least(Lanes a, Lanes b) { return compare_bits<_CMP_GE_OQ>(a, b); }
[[maybe_unused]] inline uint32_t bits_not_below(Lanes a, Lanes b) { return compare_bits<_CMP_NLT_UQ>(a, b); }
[[maybe_unused]] inline uint32_t bits_equal(Lanes a, Lanes b) { return compare_bits<_CMP_EQ_OQ>(a, b); }

[[maybe_unused]] inline float tree_sum(Lanes a) {
  const __m256 eight = _mm256_add_ps(a.low, a.high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
[[maybe_unused]] inline float tree_greater(Lanes a) {
  const __m256 eight = _mm256_max_ps(a.low, a.high);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

inline void load_pairs_half(const float* p, __m256& even, __m256& odd) {
  const __m256 a = _mm256_loadu_ps(p), b = _mm256_loadu_ps(p + 8);
  const __m256 low = _mm256_permute2f128_ps(a, b, 0x20), high = _mm256_permute2f128_ps(a, b, 0x31);
  even = _mm256_shuffle_ps(low, high, 0x88);
  odd = _mm256_shuffle_ps(low, high, 0xdd);
}
inline void store_pairs_half(float* p, __m256 even, __m256 odd) {
  const __m256 low = _mm256_unpacklo_ps(even, odd), high = _mm256_unpackhi_ps(even, odd);
  _mm256_storeu_ps(p, _mm256_permute2f128_ps(low, high, 0x20));
  _mm256_storeu_ps(p + 8, _mm256_permute2f128_ps(low, high, 0x31));
}
[[maybe_unused]] inline void load_pairs(const float* p, Lanes& even, Lanes& odd) {
  load_pairs_half(p, even.low, odd.low);
  load_pairs_half(p + 16, even.high, odd.high);
}
[[maybe_unused]] inline void store_pairs(float* p, Lanes even, Lanes odd) {
  store_pairs_half(p, even.low, odd.low);
  store_pairs_half(p + 16, even.high, odd.high);
}

[[maybe_unused]] inline int store_set_bits(int32_t* out, uint32_t bits, int32_t first) {
  int count = 0;
  for (; bits != 0; bits &= bits - 1) out[count++] = first + __builtin_ctz(bits);
  return count;
}

[[maybe_unused]] inline void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }

}  // namespace
}  // namespace outrider::kernels
