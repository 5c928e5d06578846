// Sixteen virtual lanes as one AVX-512 register. lanes_scalar.hpp says what each operation means.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace outrider::kernels {
namespace {

struct Lanes { __m512 v; };

inline constexpr bool kWidenShared = false;
inline constexpr int kAccumulators = 24;

inline __mmask16 first_mask(int n) { return static_cast<__mmask16>((1u << n) - 1u); }

[[maybe_unused]] inline Lanes splat(float x) { return {_mm512_set1_ps(x)}; }
[[maybe_unused]] inline Lanes load(const float* p) { return {_mm512_loadu_ps(p)}; }
[[maybe_unused]] inline Lanes load(const uint16_t* p) { return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))}; }
[[maybe_unused]] inline Lanes load(const int8_t* p) {
  return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
}
[[maybe_unused]] inline Lanes load_first(const float* p, int n, float others) {
  return {_mm512_mask_loadu_ps(_mm512_set1_ps(others), first_mask(n), p)};
}
[[maybe_unused]] inline void store(float* p, Lanes a) { _mm512_storeu_ps(p, a.v); }
[[maybe_unused]] inline void store(uint16_t* p, Lanes a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
[[maybe_unused]] inline void store(int8_t* p, Lanes a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(a.v)));
}
[[maybe_unused]] inline void store_first(float* p, Lanes a, int n) { _mm512_mask_storeu_ps(p, first_mask(n), a.v); }

[[maybe_unused]] inline Lanes add(Lanes a, Lanes b) { return {_mm512_add_ps(a.v, b.v)}; }
[[maybe_unused]] inline Lanes subtract(Lanes a, Lanes b) { return {_mm512_sub_ps(a.v, b.v)}; }
[[maybe_unused]] inline Lanes multiply(Lanes a, Lanes b) { return {_mm512_mul_ps(a.v, b.v)}; }
[[maybe_unused]] inline Lanes divide(Lanes a, Lanes b) { return {_mm512_div_ps(a.v, b.v)}; }
[[maybe_unused]] inline Lanes fused(Lanes a, Lanes b, Lanes c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
[[maybe_unused]] inline Lanes negate(Lanes a) { return {_mm512_xor_ps(a.v, _mm512_set1_ps(-0.0f))}; }
[[maybe_unused]] inline Lanes magnitude(Lanes a) { return {_mm512_abs_ps(a.v)}; }
[[maybe_unused]] inline Lanes greater(Lanes a, Lanes b) { return {_mm512_max_ps(a.v, b.v)}; }

[[maybe_unused]] inline Lanes keep_first(Lanes a, int n) { return {_mm512_maskz_mov_ps(first_mask(n), a.v)}; }
[[maybe_unused]] inline Lanes where_below(Lanes x, float limit, float then, Lanes otherwise) {
  return {_mm512_mask_mov_ps(otherwise.v, _mm512_cmp_ps_mask(x.v, _mm512_set1_ps(limit), _CMP_LT_OQ), _mm512_set1_ps(then))};
}
[[maybe_unused]] inline Lanes where_above(Lanes x, float limit, float then, Lanes otherwise) {
  return {_mm512_mask_mov_ps(otherwise.v, _mm512_cmp_ps_mask(x.v, _mm512_set1_ps(limit), _CMP_GT_OQ), _mm512_set1_ps(then))};
}
[[maybe_unused]] inline Lanes add_exponent(Lanes p, Lanes t) {
  return {_mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p.v), _mm512_slli_epi32(_mm512_castps_si512(t.v), 23)))};
}

[[maybe_unused]] inline uint32_t bits_at_least(Lanes a, Lanes b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_GE_OQ); }
[[maybe_unused]] inline uint32_t bits_not_below(Lanes a, Lanes b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_NLT_UQ); }
[[maybe_unused]] inline uint32_t bits_equal(Lanes a, Lanes b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ); }

[[maybe_unused]] inline float tree_sum(Lanes a) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
[[maybe_unused]] inline float tree_greater(Lanes a) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

[[maybe_unused]] inline void load_pairs(const float* p, Lanes& even, Lanes& odd) {
  const __m512 low = _mm512_loadu_ps(p), high = _mm512_loadu_ps(p + 16);
  const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  even.v = _mm512_permutex2var_ps(low, evens, high);
  odd.v = _mm512_permutex2var_ps(low, _mm512_add_epi32(evens, _mm512_set1_epi32(1)), high);
}
[[maybe_unused]] inline void store_pairs(float* p, Lanes even, Lanes odd) {
  const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  _mm512_storeu_ps(p, _mm512_permutex2var_ps(even.v, first, odd.v));
  _mm512_storeu_ps(p + 16, _mm512_permutex2var_ps(even.v, _mm512_add_epi32(first, _mm512_set1_epi32(8)), odd.v));
}

[[maybe_unused]] inline int store_set_bits(int32_t* out, uint32_t bits, int32_t first) {
  const __m512i indices =
      _mm512_add_epi32(_mm512_set1_epi32(first), _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  const int count = __builtin_popcount(bits);
  // Compressed in a register: compressing into memory is slow on some processors.
  _mm512_mask_storeu_epi32(out, first_mask(count), _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits), indices));
  return count;
}

[[maybe_unused]] inline void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }

}  // namespace
}  // namespace outrider::kernels
