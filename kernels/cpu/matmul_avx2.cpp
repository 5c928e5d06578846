// matmul for AVX2 + FMA + F16C: the layout's 16 lanes as two halves of 8.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cpu/matmul_isa.hpp"

namespace outrider::kernels {
namespace {

struct Vec {
  using I = __m256i;
  using F = __m256;
  static constexpr int kWidth = 8;
  static constexpr int kMaxFloatRows = 6;  // twelve accumulators, two weights, one activation

  static I load(const std::byte* p) { return _mm256_loadu_si256(reinterpret_cast<const I*>(p)); }
  static I zero() { return _mm256_setzero_si256(); }
  static F zero_floats() { return _mm256_setzero_ps(); }
  static I broadcast(const int32_t* p) { return _mm256_set1_epi32(*p); }
  static F broadcast(const float* p) { return _mm256_broadcast_ss(p); }
  static I broadcast_quad(const int8_t* q) {
    int32_t quad;
    __builtin_memcpy(&quad, q, 4);
    return _mm256_set1_epi32(quad);
  }

  static I low_nibbles(I v) { return _mm256_and_si256(v, _mm256_set1_epi8(15)); }
  static I high_nibbles(I v) { return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(15)); }
  template <char kMask, int kShift>
  static I merge_bits(I w, I plane) {
    if constexpr (kShift > 0) plane = _mm256_slli_epi16(plane, kShift);
    if constexpr (kShift < 0) plane = _mm256_srli_epi16(plane, -kShift);
    return _mm256_or_si256(w, _mm256_and_si256(plane, _mm256_set1_epi8(kMask)));
  }

  static F half_floats(const std::byte* p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
  static F brain_floats(const std::byte* p) {
    const I wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
  }
  static F floats(const std::byte* p) { return _mm256_loadu_ps(reinterpret_cast<const float*>(p)); }
  static F byte_floats(const std::byte* p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  static I signed_bytes(const std::byte* p) { return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))); }

  static I add(I a, I b) { return _mm256_add_epi32(a, b); }
  static I multiply(I a, I b) { return _mm256_mullo_epi32(a, b); }
  static F to_floats(I v) { return _mm256_cvtepi32_ps(v); }
  static F mul(F a, F b) { return _mm256_mul_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  static F negate(F v) { return _mm256_xor_ps(v, _mm256_set1_ps(-0.0f)); }
  static void store(float* out, F v, int lanes) {
    if (lanes >= 8) {
      _mm256_storeu_ps(out, v);
    } else if (lanes > 0) {
      const I lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
      _mm256_maskstore_ps(out, _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes), lane), v);
    }
  }

  // Two products of a quant below 2^kBits with at most 127 fit int16 8, 4 and 2 times for 4, 5 and 6 bits:
  // 15 * 127 * 2 * 8 = 30,480; 31 * 127 * 2 * 4 = 31,496; 63 * 127 * 2 * 2 = 32,004.
  template <int kBits, int kGroups>
  static I dot(const I* w, const int8_t* q, I sum) {
    constexpr int kRun = 8 >> (kBits - 4) < kGroups ? 8 >> (kBits - 4) : kGroups;
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; g += kRun) {
      I pairs = _mm256_maddubs_epi16(w[g], broadcast_quad(q + 4 * g));
#pragma GCC unroll 8
      for (int i = 1; i < kRun; ++i) pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(w[g + i], broadcast_quad(q + 4 * (g + i))));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    }
    return sum;
  }

  // |w| * (q with w's sign): at most 128 * 127 * 2 = 32,512, so every pair is widened at once.
  static I as_signed(I w) { return w; }
  static I dot_signed(const I (&w)[8], const ActivationBlock& a) {
    I sum = zero();
#pragma GCC unroll 8
    for (int g = 0; g < 8; ++g) {
      const I flipped = _mm256_sign_epi8(broadcast_quad(a.q + 4 * g), w[g]);
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(w[g]), flipped), _mm256_set1_epi16(1)));
    }
    return sum;
  }
};

#include "kernels/cpu/matmul_body.inl"

}  // namespace

void matmul_tile_avx2(TensorType type, int rows, const TileTask& task) { matmul_tile(type, rows, task); }

}  // namespace outrider::kernels
