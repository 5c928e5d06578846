// The multiply-add peaks of AVX-512 without VNNI.
#include <immintrin.h>

#include "kernels/cpu/peak_loops.hpp"

namespace outrider::kernels {
namespace {

struct Vec {
  using I = __m512i;
  using F = __m512;
  static constexpr int kWidth = 16;
  static constexpr int kRows = 8;
  static constexpr int kSums = 24;
  static I bytes(char value) { return _mm512_set1_epi8(value); }
  static I multiply_pairs(I a, I b) { return _mm512_maddubs_epi16(a, b); }
  static I add_pairs(I a, I b) { return _mm512_add_epi16(a, b); }
  static I widen(I pairs) { return _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)); }
  static I add(I a, I b) { return _mm512_add_epi32(a, b); }
  static F floats(float value) { return _mm512_set1_ps(value); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
};

#include "kernels/cpu/peak_body.inl"

}  // namespace

constexpr PeakLoops kPeakAvx512 = kLoops;

}  // namespace outrider::kernels
