// The small operations of a transformer's layer. Sums run in 16 virtual lanes (element i belongs to lane i mod 16, ascending, fused
// multiply-add where a product is summed), and the lanes are added by one fixed tree: i + (i + 8), then + 4, + 2, + 1. exp is our own
// polynomial, so that results do not depend on the C library. Every instruction set gives the same bits; reference_math.hpp is the
// specification.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/isa.hpp"

namespace outrider::kernels {

// out[i] = (x[i] * (1 / sqrt(mean(x^2) + epsilon))) * weight[i]; out may be x.
void rms_norm(Isa isa, const float* x, const float* weight, int64_t n, float epsilon, float* out);

// x[i] += y[i]
void add(Isa isa, float* x, const float* y, int64_t n);

// out[i] = silu(gate[i]) * up[i], silu(z) = z / (1 + exp(-z)); out may be gate.
void silu_multiply(Isa isa, const float* gate, const float* up, int64_t n, float* out);

// out[i] = gelu(gate[i]) * up[i], the tanh form; out may be gate.
void gelu_multiply(Isa isa, const float* gate, const float* up, int64_t n, float* out);

// x[i] = cap * tanh(x[i] / cap), computed as fma(x, 0, cap * (1 - 2 / (1 + exp(x * (2 / cap))))): the last step leaves a number as it is
// and turns an infinity into NaN, so that a fault stays one. Within 4e-7 * cap of the true value. cap > 0.
void soft_cap(Isa isa, float* x, float cap, int64_t n);

// Rotation angles. A table row holds cos[rotary/2], then sin[rotary/2], each times `magnitude`. `frequencies` are the angles that a
// position adds, [rotary/2]; scaled variants (linear, YaRN, Llama 3) are a matter of the frequencies and the magnitude given. Computed
// with the C library's long double functions, which do not vary with the processor, so that the table is the same on every x86-64
// machine with that library.
void rope_table_row(int32_t position, const std::vector<double>& frequencies, float magnitude, float* row);

enum class RopePairs { interleaved, halves };  // (2i, 2i+1), as GGUF's llama; (i, i + rotary/2), as NeoX

// Rotates the first `rotary` features of each of `heads` heads in place: a' = a cos - b sin, b' = a sin + b cos, each as
// fma(a, cos, -(b * sin)) and fma(a, sin, b * cos).
void rope(Isa isa, float* x, int heads, int head_dim, int rotary, RopePairs pairs, const float* table_row);

// Index of the greatest element, the lowest on ties; -1 when an element is NaN or +inf (such a row is an error of its request).
int64_t arg_max(Isa isa, const float* x, int64_t n);

// Greatest element; NaN when any element is NaN.
float max_value(Isa isa, const float* x, int64_t n);

// Sum of exp((x[i] - max) * inverse_temperature) in virtual lanes.
float sum_exp(Isa isa, const float* x, int64_t n, float max, float inverse_temperature);

// Writes the indices i, ascending, with x[i] >= threshold to `out` (room for n) and returns how many.
int64_t collect_at_least(Isa isa, const float* x, int64_t n, float threshold, int32_t* out);

// The exp all of the above use; in [-87.3, 88.7] within 2 ulp, 0 below and +inf above.
float exp_scalar(float x);

}  // namespace outrider::kernels
