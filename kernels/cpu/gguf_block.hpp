// One 32-element block of a quantised GGUF row, taken apart: what repacking and dequantising share. K types are seen as eight such
// blocks a super-block. Internal to kernels/cpu.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/types.hpp"

namespace outrider::kernels {

struct QuantBlock {
  uint8_t n[32];   // the unsigned quant, element by element; Q8_0: the signed byte's bits
  uint16_t d = 0;  // f16 bits
  uint16_t m = 0;  // f16 bits: Q4_1, Q5_1: the minimum; Q4_K, Q5_K: dmin
  uint8_t sc = 0;  // Q4_K, Q5_K: 6-bit scale; Q6_K: int8 bits of the first 16 elements' scale
  uint8_t mn = 0;  // Q4_K, Q5_K: 6-bit minimum; Q6_K: int8 bits of the second 16 elements' scale
};

// Takes block `index` (32 elements) of the GGUF row at `row` apart. Quantised types only.
QuantBlock decode_block(TensorType type, const std::byte* row, int64_t index);

// The block's 32 values as the format defines them.
void dequantize_block(TensorType type, const QuantBlock& block, float* out);

}  // namespace outrider::kernels
