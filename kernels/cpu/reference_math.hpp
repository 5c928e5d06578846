// The specification of math.hpp and of the numeric law in its head: plain loops, one element at a time, no vectors, written apart
// from the code that runs. Tests compare every instruction set with it, bit for bit. Nothing else calls it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/cpu/math.hpp"

namespace outrider::kernels::reference {

// Adds sixteen lanes by the fixed tree: i + (i + 8), then + 4, + 2, + 1.
float tree_sum(std::array<float, 16> lanes);

void rms_norm(const float* x, const float* weight, int64_t n, float epsilon, float* out);
void silu_multiply(const float* gate, const float* up, int64_t n, float* out);
void gelu_multiply(const float* gate, const float* up, int64_t n, float* out);
float soft_cap(float x, float cap);
void rope(float* x, int heads, int head_dim, int rotary, RopePairs pairs, const float* table_row);
int64_t arg_max(const float* x, int64_t n);
float max_value(const float* x, int64_t n);
float sum_exp(const float* x, int64_t n, float max, float inverse_temperature);
std::vector<int32_t> collect_at_least(const float* x, int64_t n, float threshold);

}  // namespace outrider::kernels::reference
