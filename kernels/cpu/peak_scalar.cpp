// The multiply-add peak of plain loops: products of bytes from a block in L1, as matmul_scalar.cpp has them, and std::fma.
#include <cmath>

#include "kernels/cpu/peak_loops.hpp"

namespace outrider::kernels {
namespace {

constexpr int kBlock = 32;  // products of one int8 step
constexpr int kSums = 8;    // independent chains of fma

void int8_dot(int64_t steps) {
  uint8_t n[kBlock] = {1, 2, 3};
  int8_t q[kBlock] = {4, 5, 6};
  uint32_t sum = 0;
  for (int64_t step = 0; step < steps; ++step) {
    asm volatile("" : : "r"(n), "r"(q) : "memory");  // as if the block were another one
    for (int i = 0; i < kBlock; ++i) sum += static_cast<uint32_t>(n[i] * q[i]);
  }
  asm volatile("" : : "r"(sum));
}

void f32_fma(int64_t steps) {
  float w = 1.0F, x = 0.5F, sums[kSums] = {};
  for (int64_t step = 0; step < steps; ++step) {
    asm volatile("" : "+r"(w), "+r"(x));
    for (float& sum : sums) sum = std::fma(w, x, sum);
  }
  for (float& sum : sums) asm volatile("" : "+r"(sum));
}

}  // namespace

constexpr PeakLoops kPeakScalar = {{int8_dot, kBlock}, {f32_fma, kSums}};

}  // namespace outrider::kernels
