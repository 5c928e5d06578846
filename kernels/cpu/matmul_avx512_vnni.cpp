// matmul for AVX-512 with VNNI: vpdpbusd multiplies four unsigned weight bytes by four signed activation bytes and adds them to an int32.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cpu/matmul_isa.hpp"

namespace outrider::kernels {
namespace {

#include "kernels/cpu/vec_avx512.inl"

struct Vec : VecAvx512 {
  // kGroups k-groups starting from `init`. Nothing saturates.
  template <int kBits, int kGroups>
  static I dot(const I* w, const int8_t* q, I init) {
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) init = _mm512_dpbusd_epi32(init, w[g], broadcast_quad(q + 4 * g));
    return init;
  }

  // Signed weights become unsigned by adding 128; bias128 takes 128 * (sum of q) off again.
  static I as_signed(I w) { return _mm512_xor_si512(w, _mm512_set1_epi8(-128)); }
  static I dot_signed(const I (&w)[8], const ActivationBlock& a) { return dot<8, 8>(w, a.q, broadcast(&a.bias128)); }
};

#include "kernels/cpu/matmul_body.inl"

}  // namespace

void matmul_tile_avx512_vnni(TensorType type, int rows, const TileTask& task) { matmul_tile(type, rows, task); }

}  // namespace outrider::kernels
