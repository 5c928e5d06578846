#include "kernels/cpu/reference_math.hpp"

#include <cmath>
#include <limits>

namespace outrider::kernels::reference {

float tree_sum(std::array<float, 16> lanes) {
  for (size_t step : {8u, 4u, 2u, 1u})
    for (size_t i = 0; i < step; ++i) lanes[i] += lanes[i + step];
  return lanes[0];
}

void rms_norm(const float* x, const float* weight, int64_t n, float epsilon, float* out) {
  std::array<float, 16> lanes{};
  for (int64_t i = 0; i < n; ++i) lanes[static_cast<size_t>(i % 16)] = std::fma(x[i], x[i], lanes[static_cast<size_t>(i % 16)]);
  const float mean = tree_sum(lanes) / static_cast<float>(n);
  const float scale = 1.0f / std::sqrt(mean + epsilon);
  for (int64_t i = 0; i < n; ++i) out[i] = (x[i] * scale) * weight[i];
}

void silu_multiply(const float* gate, const float* up, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = gate[i] / (1.0f + exp_scalar(-gate[i])) * up[i];
}

// gelu(z) = z / 2 (1 + tanh u) with u = sqrt(2 / pi) (z + 0.044715 z^3), and (1 + tanh u) / 2 = 1 / (1 + exp(-2 u)).
void gelu_multiply(const float* gate, const float* up, int64_t n, float* out) {
  const float a = 1.5957691216057308f, b = 0.07135481627260025f;  // 2 sqrt(2 / pi), 0.044715 a
  for (int64_t i = 0; i < n; ++i) {
    const float z = gate[i];
    const float twice_u = z * std::fma(z * z, b, a);
    out[i] = z / (1.0f + exp_scalar(-twice_u)) * up[i];
  }
}

// tanh u = 1 - 2 / (1 + exp(2 u)); an infinity times 0 is NaN.
float soft_cap(float x, float cap) {
  const float doubled = x * (2.0f / cap);
  return std::fma(x, 0.0f, cap * (1.0f - 2.0f / (1.0f + exp_scalar(doubled))));
}

void rope(float* x, int heads, int head_dim, int rotary, RopePairs pairs, const float* table_row) {
  const int half = rotary / 2;
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < half; ++i) {
      float& first = x[h * head_dim + (pairs == RopePairs::interleaved ? 2 * i : i)];
      float& second = x[h * head_dim + (pairs == RopePairs::interleaved ? 2 * i + 1 : i + half)];
      const float a = first, b = second, cosine = table_row[i], sine = table_row[half + i];
      first = std::fma(a, cosine, -(b * sine));
      second = std::fma(a, sine, b * cosine);
    }
}

int64_t arg_max(const float* x, int64_t n) {
  int64_t best = -1;
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(x[i]) || x[i] == std::numeric_limits<float>::infinity()) return -1;
    if (best < 0 || x[i] > x[best]) best = i;
  }
  return best;
}

float max_value(const float* x, int64_t n) {
  float top = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) return x[i];
    if (x[i] > top) top = x[i];
  }
  return top + 0.0f;  // a zero is +0
}

float sum_exp(const float* x, int64_t n, float max, float inverse_temperature) {
  std::array<float, 16> lanes{};
  for (int64_t i = 0; i < n; ++i) lanes[static_cast<size_t>(i % 16)] += exp_scalar((x[i] - max) * inverse_temperature);
  return tree_sum(lanes);
}

std::vector<int32_t> collect_at_least(const float* x, int64_t n, float threshold) {
  std::vector<int32_t> found;
  for (int64_t i = 0; i < n; ++i)
    if (x[i] >= threshold) found.push_back(static_cast<int32_t>(i));
  return found;
}

}  // namespace outrider::kernels::reference
