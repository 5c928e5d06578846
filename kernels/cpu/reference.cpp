#include "kernels/cpu/reference.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace outrider::kernels {
namespace {

float half_value(const std::byte* p) {
  uint16_t bits;
  std::memcpy(&bits, p, 2);
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float magnitude;
  if (exponent == 31) magnitude = mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else if (exponent == 0) magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  else magnitude = std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

float float_element(TensorType type, const std::byte* p) {
  if (type == TensorType::f16) return half_value(p);
  uint32_t bits = 0;
  if (type == TensorType::f32) std::memcpy(&bits, p, 4);
  else std::memcpy(reinterpret_cast<std::byte*>(&bits) + 2, p, 2);  // bf16 is a float's upper half, and x86 is little endian
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

struct QuantisedBlock {
  int q[32];
  float scale;
  float scaled_sum;
};

QuantisedBlock quantise(const float* x) {
  QuantisedBlock block;
  float amax = 0;
  bool finite = true;
  for (int i = 0; i < 32; ++i) {
    finite = finite && std::isfinite(x[i]);
    amax = std::fmax(amax, std::fabs(x[i]));
  }
  int sum = 0;
  for (int i = 0; i < 32; ++i) {
    block.q[i] = 0;
    if (finite && amax >= 0x1p-100f) {
      const float inverse = 127.0f / amax;
      const float scaled = x[i] * inverse;
      block.q[i] = static_cast<int>(std::fmin(127.0f, std::fmax(-127.0f, std::nearbyint(scaled))));
    }
    sum += block.q[i];
  }
  block.scale = !finite ? std::numeric_limits<float>::quiet_NaN() : amax >= 0x1p-100f ? amax / 127.0f : 0.0f;
  block.scaled_sum = block.scale * static_cast<float>(sum);
  return block;
}

int byte(const std::byte* p, int i) { return static_cast<int>(p[i]); }

// Quant `i` of a simple block: the nibble, with the fifth bit where the type has one.
int simple_quant(TensorType type, const std::byte* p, int i) {
  const bool five = type == TensorType::q5_0 || type == TensorType::q5_1;
  const int bits_at = type == TensorType::q5_0 ? 2 : 4;
  const int nibbles_at = type == TensorType::q4_0 ? 2 : type == TensorType::q4_1 ? 4 : type == TensorType::q5_0 ? 6 : 8;
  int n = byte(p, nibbles_at + i % 16) >> (i < 16 ? 0 : 4) & 15;
  if (five && (byte(p, bits_at + i / 8) >> (i % 8) & 1)) n += 16;
  return n;
}

float simple_row(TensorType type, const std::byte* row, int64_t cols, const float* x) {
  const int bytes = static_cast<int>(type_traits(type).block_bytes);
  float acc = 0;
  for (int64_t b = 0; b < cols / 32; ++b) {
    const std::byte* p = row + b * bytes;
    const QuantisedBlock a = quantise(x + 32 * b);
    const bool affine = type == TensorType::q4_1 || type == TensorType::q5_1;
    int dot = 0;
    for (int i = 0; i < 32; ++i) {
      int w;
      if (type == TensorType::q8_0) w = static_cast<int8_t>(byte(p, 2 + i));
      else w = simple_quant(type, p, i) - (type == TensorType::q4_0 ? 8 : type == TensorType::q5_0 ? 16 : 0);
      dot += w * a.q[i];
    }
    const float scale = half_value(p) * a.scale;
    acc = std::fma(static_cast<float>(dot), scale, acc);
    if (affine) acc = std::fma(half_value(p + 2), a.scaled_sum, acc);
  }
  return acc;
}

// Q4_K and Q5_K.
float k_row(TensorType type, const std::byte* row, int64_t cols, const float* x) {
  const int bytes = static_cast<int>(type_traits(type).block_bytes);
  float acc = 0;
  for (int64_t b = 0; b < cols / 32; ++b) {
    const std::byte* p = row + b / 8 * bytes;
    const int sub = static_cast<int>(b % 8);
    const QuantisedBlock a = quantise(x + 32 * b);
    int sc, mn;
    if (sub < 4) {
      sc = byte(p, 4 + sub) & 63;
      mn = byte(p, 8 + sub) & 63;
    } else {
      sc = (byte(p, 8 + sub) & 15) + (byte(p, sub) >> 6) * 16;
      mn = (byte(p, 8 + sub) >> 4) + (byte(p, 4 + sub) >> 6) * 16;
    }
    int dot = 0;
    for (int i = 0; i < 32; ++i) {
      const int quants_at = type == TensorType::q4_k ? 16 : 48;
      int n = byte(p, quants_at + sub / 2 * 32 + i);
      n = sub % 2 ? n >> 4 : n & 15;
      if (type == TensorType::q5_k && (byte(p, 16 + i) >> sub & 1)) n += 16;
      dot += n * a.q[i];
    }
    const float dw = half_value(p) * static_cast<float>(sc), mw = half_value(p + 2) * static_cast<float>(mn);
    const float scale = dw * a.scale;
    acc = std::fma(static_cast<float>(dot), scale, acc);
    acc = std::fma(-mw, a.scaled_sum, acc);
  }
  return acc;
}

float q6_k_row(const std::byte* row, int64_t cols, const float* x) {
  float acc = 0;
  for (int64_t b = 0; b < cols / 32; ++b) {
    const std::byte* p = row + b / 8 * 210;
    const QuantisedBlock a = quantise(x + 32 * b);
    const int half = static_cast<int>(b % 8) / 4, part = static_cast<int>(b % 4);
    int total = 0;
    for (int i = 0; i < 32; ++i) {
      const int low_byte = byte(p, 64 * half + (part % 2 ? 32 : 0) + i), high_byte = byte(p, 128 + 32 * half + i);
      const int n = (part < 2 ? low_byte & 15 : low_byte >> 4) + (high_byte >> (2 * part) & 3) * 16;
      const int scale = static_cast<int8_t>(byte(p, 192 + 8 * half + 2 * part + i / 16));
      total += scale * (n - 32) * a.q[i];
    }
    const float scale = half_value(p + 208) * a.scale;
    acc = std::fma(static_cast<float>(total), scale, acc);
  }
  return acc;
}

float float_row(TensorType type, const std::byte* row, int64_t cols, const float* x) {
  const int bytes = static_cast<int>(type_traits(type).block_bytes);
  float acc = 0;
  for (int64_t k = 0; k < cols; ++k) acc = std::fma(float_element(type, row + k * bytes), x[k], acc);
  return acc;
}

}  // namespace

void reference_matmul(TensorType type, int64_t rows, int64_t cols, const std::byte* gguf, const float* x, int64_t m_rows, int64_t stride,
                      float* out, int64_t out_stride) {
  const TypeTraits& traits = type_traits(type);
  const int64_t row_bytes = cols / traits.block_elements * traits.block_bytes;
  for (int64_t m = 0; m < m_rows; ++m) {
    for (int64_t r = 0; r < rows; ++r) {
      const std::byte* row = gguf + r * row_bytes;
      const float* input = x + m * stride;
      float& result = out[m * out_stride + r];
      switch (type) {
        case TensorType::q4_k:
        case TensorType::q5_k: result = k_row(type, row, cols, input); break;
        case TensorType::q6_k: result = q6_k_row(row, cols, input); break;
        case TensorType::f32:
        case TensorType::f16:
        case TensorType::bf16: result = float_row(type, row, cols, input); break;
        default: result = simple_row(type, row, cols, input);
      }
    }
  }
}

}  // namespace outrider::kernels
