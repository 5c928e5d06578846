#include "kernels/cpu/dequantize.hpp"

#include <cstdlib>
#include <cstring>

#include "kernels/cpu/decode_block.hpp"
#include "kernels/half.hpp"

namespace outrider::kernels {

QuantBlock decode_block(TensorType type, const std::byte* row, int64_t index) {
  const TypeTraits& traits = type_traits(type);
  const int64_t blocks = traits.block_elements / 32;  // 1 or 8
  const auto* p = reinterpret_cast<const uint8_t*>(row) + index / blocks * traits.block_bytes;
  QuantBlock block;
  with_quantised(type, [&]<TensorType kType>() { decode_block<kType>(p, static_cast<int>(index % blocks), block); });
  return block;
}

void dequantize_block(TensorType type, const QuantBlock& block, float* out) {
  const float d = f16_to_f32(block.d), m = f16_to_f32(block.m);
  for (int i = 0; i < 32; ++i) {
    const int n = block.n[i];
    switch (type) {
      case TensorType::q4_0: out[i] = static_cast<float>(n - 8) * d; break;
      case TensorType::q5_0: out[i] = static_cast<float>(n - 16) * d; break;
      case TensorType::q8_0: out[i] = static_cast<float>(static_cast<int8_t>(n)) * d; break;
      case TensorType::q4_1:
      case TensorType::q5_1: {
        const float product = static_cast<float>(n) * d;
        out[i] = product + m;
        break;
      }
      case TensorType::q4_k:
      case TensorType::q5_k: {
        const float product = d * static_cast<float>(block.sc) * static_cast<float>(n);
        out[i] = product - m * static_cast<float>(block.mn);
        break;
      }
      case TensorType::q6_k: {
        const auto scale = static_cast<int8_t>(i < 16 ? block.sc : block.mn);
        out[i] = d * static_cast<float>(scale) * static_cast<float>(n - 32);
        break;
      }
      case TensorType::f32:
      case TensorType::f16:
      case TensorType::bf16: std::abort();
    }
  }
}

void dequantize_row(TensorType type, const std::byte* src, int64_t n, float* out) {
  switch (type) {
    case TensorType::f32: std::memcpy(out, src, static_cast<size_t>(n) * sizeof(float)); return;
    case TensorType::f16:
    case TensorType::bf16:
      for (int64_t i = 0; i < n; ++i) {
        const uint16_t bits = load<uint16_t>(reinterpret_cast<const uint8_t*>(src) + 2 * i);
        out[i] = type == TensorType::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
      }
      return;
    default:
      for (int64_t b = 0; b < n / 32; ++b) dequantize_block(type, decode_block(type, src, b), out + 32 * b);
  }
}

}  // namespace outrider::kernels
