// Quantising activation rows, for every instruction set from AVX2 up: a row's cost is that of one output feature, so wider vectors
// would not show.
#include <immintrin.h>

#include "kernels/cpu/matmul_isa.hpp"

namespace outrider::kernels {
namespace {

uint32_t greatest_magnitude(__m256 a, __m256 b, __m256 c, __m256 d) {
  const __m256i mask = _mm256_set1_epi32(0x7fffffff);
  const __m256i ab = _mm256_max_epi32(_mm256_and_si256(_mm256_castps_si256(a), mask), _mm256_and_si256(_mm256_castps_si256(b), mask));
  const __m256i cd = _mm256_max_epi32(_mm256_and_si256(_mm256_castps_si256(c), mask), _mm256_and_si256(_mm256_castps_si256(d), mask));
  const __m256i all = _mm256_max_epi32(ab, cd);
  __m128i m = _mm_max_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(m));
}

}  // namespace

void quantize_row_avx2(const float* x, int64_t blocks, ActivationBlock* out, int64_t stride) {
  for (int64_t b = 0; b < blocks; ++b, x += 32, out += stride) {
    const __m256 x0 = _mm256_loadu_ps(x), x1 = _mm256_loadu_ps(x + 8), x2 = _mm256_loadu_ps(x + 16), x3 = _mm256_loadu_ps(x + 24);
    const uint32_t greatest = greatest_magnitude(x0, x1, x2, x3);
    const float amax = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int>(greatest))));
    auto* bytes = reinterpret_cast<__m256i*>(out->q);
    if (greatest >= 0x7f800000u || amax < kSmallestAmax) {
      *out = ActivationBlock{};
      out->scale = greatest >= 0x7f800000u ? __builtin_nanf("") : 0.0f;
      out->scaled_sum = out->scale;
      continue;
    }
    const __m256 inverse = _mm256_set1_ps(127.0f / amax);
    const __m256i q0 = _mm256_cvtps_epi32(_mm256_mul_ps(x0, inverse)), q1 = _mm256_cvtps_epi32(_mm256_mul_ps(x1, inverse));
    const __m256i q2 = _mm256_cvtps_epi32(_mm256_mul_ps(x2, inverse)), q3 = _mm256_cvtps_epi32(_mm256_mul_ps(x3, inverse));
    // Packing works within 128-bit lanes: the dwords come out as 0 4 1 5 2 6 3 7 of the block's eight.
    const __m256i packed = _mm256_packs_epi16(_mm256_packs_epi32(q0, q1), _mm256_packs_epi32(q2, q3));
    const __m256i q = _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_store_si256(bytes, q);
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), q);
    __m256i sums = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));  // four partial sums for each 16 elements
    sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0x4e));
    sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0xb1));
    const int first = _mm256_extract_epi32(sums, 0), second = _mm256_extract_epi32(sums, 4), sum = first + second;
    out->scale = amax / 127.0f;
    out->scaled_sum = out->scale * static_cast<float>(sum);
    out->bias8 = -8 * sum;
    out->bias16 = -16 * sum;
    out->bias128 = -128 * sum;
    out->bias32[0] = -32 * first;
    out->bias32[1] = -32 * second;
    out->sum = sum;
  }
}

void residual_row_avx2(const float* x, int64_t blocks, const ActivationBlock* in, int64_t stride, float* out) {
  for (int64_t b = 0; b < blocks; ++b, x += 32, out += 32, in += stride) {
    const __m256 scale = _mm256_set1_ps(in->scale);
    for (int i = 0; i < 32; i += 8) {
      const __m256i q = _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(in->q + i)));
      _mm256_storeu_ps(out + i, _mm256_fnmadd_ps(_mm256_cvtepi32_ps(q), scale, _mm256_loadu_ps(x + i)));
    }
  }
}

}  // namespace outrider::kernels
