// Chooses the instruction set, and holds what has one form only: the scalar exp and the rotation table.
#include "kernels/cpu/math.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu/exp_constants.hpp"
#include "kernels/cpu/math_ops.hpp"

namespace outrider::kernels {
namespace {

const MathOps& ops(Isa isa) {
  switch (isa) {
    case Isa::scalar: return kMathScalar;
    case Isa::avx2: return kMathAvx2;
    case Isa::avx512:
    case Isa::avx512_vnni: return kMathAvx512;  // these operations have no integer products
  }
  return kMathScalar;
}

}  // namespace

void rms_norm(Isa isa, const float* x, const float* weight, int64_t n, float epsilon, float* out) {
  ops(isa).rms_norm(x, weight, n, epsilon, out);
}
void add(Isa isa, float* x, const float* y, int64_t n) { ops(isa).add(x, y, n); }
void silu_multiply(Isa isa, const float* gate, const float* up, int64_t n, float* out) { ops(isa).silu_multiply(gate, up, n, out); }
void gelu_multiply(Isa isa, const float* gate, const float* up, int64_t n, float* out) { ops(isa).gelu_multiply(gate, up, n, out); }
void soft_cap(Isa isa, float* x, float cap, int64_t n) { ops(isa).soft_cap(x, cap, n); }

void rope(Isa isa, float* x, int heads, int head_dim, int rotary, RopePairs pairs, const float* table_row) {
  (pairs == RopePairs::interleaved ? ops(isa).rope_interleaved : ops(isa).rope_halves)(x, heads, head_dim, rotary, table_row);
}

int64_t arg_max(Isa isa, const float* x, int64_t n) { return ops(isa).arg_max(x, n); }
float max_value(Isa isa, const float* x, int64_t n) { return ops(isa).max_value(x, n); }
float sum_exp(Isa isa, const float* x, int64_t n, float max, float inverse_temperature) {
  return ops(isa).sum_exp(x, n, max, inverse_temperature);
}
int64_t collect_at_least(Isa isa, const float* x, int64_t n, float threshold, int32_t* out) {
  return ops(isa).collect_at_least(x, n, threshold, out);
}

// glibc's long double sine and cosine are the same C code on every x86-64 processor (no dispatch by instruction set, unlike its
// float and double ones). Extended precision keeps a position of a million good to the last bit of a float.
void rope_table_row(int32_t position, const std::vector<double>& frequencies, float magnitude, float* row) {
  const size_t half = frequencies.size();
  for (size_t i = 0; i < half; ++i) {
    const long double angle = static_cast<long double>(position) * static_cast<long double>(frequencies[i]);
    row[i] = static_cast<float>(std::cos(angle)) * magnitude;
    row[half + i] = static_cast<float>(std::sin(angle)) * magnitude;
  }
}

float exp_scalar(float x) {
  using namespace exp_constants;
  if (std::isnan(x)) return x;
  if (x < kLowest) return 0.0f;
  if (x > kHighest) return std::numeric_limits<float>::infinity();
  const float shifted = std::fma(x, kLog2E, kRound);
  const float n = shifted - kRound;
  float r = std::fma(n, -kLn2High, x);
  r = std::fma(n, -kLn2Low, r);
  float p = kC6;
  p = std::fma(p, r, kC5);
  p = std::fma(p, r, kC4);
  p = std::fma(p, r, kC3);
  p = std::fma(p, r, kC2);
  p = std::fma(p, r, 1.0f);
  p = std::fma(p, r, 1.0f);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(p) + (std::bit_cast<uint32_t>(shifted) << 23));
}

}  // namespace outrider::kernels
