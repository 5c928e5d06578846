// matmul for AVX-512 without VNNI (Skylake-X): vpmaddubsw adds pairs of products in int16, and as many pairs as cannot overflow are
// added there before one vpmaddwd widens them.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cpu/matmul_isa.hpp"

namespace outrider::kernels {
namespace {

#include "kernels/cpu/vec_avx512.inl"

struct Vec : VecAvx512 {
  // Two products of a quant below 2^kBits with at most 127 fit int16 8, 4 and 2 times for 4, 5 and 6 bits:
  // 15 * 127 * 2 * 8 = 30,480; 31 * 127 * 2 * 4 = 31,496; 63 * 127 * 2 * 2 = 32,004.
  template <int kBits, int kGroups>
  static I dot(const I* w, const int8_t* q, I sum) {
    constexpr int kRun = 8 >> (kBits - 4) < kGroups ? 8 >> (kBits - 4) : kGroups;
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; g += kRun) {
      I pairs = _mm512_maddubs_epi16(w[g], broadcast_quad(q + 4 * g));
#pragma GCC unroll 8
      for (int i = 1; i < kRun; ++i) pairs = _mm512_add_epi16(pairs, _mm512_maddubs_epi16(w[g + i], broadcast_quad(q + 4 * (g + i))));
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
    }
    return sum;
  }

  // |w| * (q with w's sign): at most 128 * 127 * 2 = 32,512, so every pair is widened at once.
  static I as_signed(I w) { return w; }
  static I dot_signed(const I (&w)[8], const ActivationBlock& a) {
    I sum = zero();
#pragma GCC unroll 8
    for (int g = 0; g < 8; ++g) {
      const I quad = broadcast_quad(a.q + 4 * g);
      const I flipped = _mm512_mask_sub_epi8(quad, _mm512_movepi8_mask(w[g]), zero(), quad);
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(_mm512_abs_epi8(w[g]), flipped), _mm512_set1_epi16(1)));
    }
    return sum;
  }
};

#include "kernels/cpu/matmul_body.inl"

}  // namespace

void matmul_tile_avx512(TensorType type, int rows, const TileTask& task) { matmul_tile(type, rows, task); }

}  // namespace outrider::kernels
