// The int8 peak of AVX-512 with VNNI: vpdpbusd alone, 64 products each. Floats are multiplied as in peak_avx512.cpp.
#include <immintrin.h>

#include "kernels/cpu/peak_loops.hpp"

namespace outrider::kernels {
namespace {

constexpr int kSums = 16;  // independent sums: latency 5 times two a cycle, and some

void int8_dot(int64_t steps) {
  __m512i sums[kSums], w = _mm512_set1_epi8(2);
  const __m512i q = _mm512_set1_epi8(3);
  for (auto& sum : sums) {
    sum = _mm512_setzero_si512();
    asm volatile("" : "+v"(sum));  // or the compiler would see that all are alike
  }
  for (int64_t step = 0; step < steps; ++step) {
    asm volatile("" : "+v"(w));
#pragma GCC unroll 16
    for (auto& sum : sums) sum = _mm512_dpbusd_epi32(sum, w, q);
  }
  for (auto& sum : sums) asm volatile("" : "+v"(sum));
}

}  // namespace

constexpr PeakLoop kPeakInt8Avx512Vnni = {int8_dot, kSums * 64};

}  // namespace outrider::kernels
