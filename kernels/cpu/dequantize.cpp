#include "kernels/cpu/dequantize.hpp"

#include <cstdlib>
#include <cstring>

#include "kernels/cpu/gguf_block.hpp"
#include "kernels/half.hpp"

namespace outrider::kernels {
namespace {

uint16_t read_u16(const uint8_t* p) { return static_cast<uint16_t>(p[0] | p[1] << 8); }

// Eight bytes at once: a shift moves bits between neighbours, and the mask takes them out again.
uint64_t load8(const uint8_t* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}
void store8(uint8_t* p, uint64_t v) { std::memcpy(p, &v, 8); }
constexpr uint64_t kNibbles = 0x0f0f0f0f0f0f0f0fu, kPairs = 0x0303030303030303u, kBits = 0x0101010101010101u;

// Element j from the low nibble of byte j, element j + 16 from its high one.
void nibbles_split(const uint8_t* qs, uint8_t* n) {
  for (int j = 0; j < 16; j += 8) {
    const uint64_t v = load8(qs + j);
    store8(n + j, v & kNibbles);
    store8(n + j + 16, v >> 4 & kNibbles);
  }
}

void add_fifth_bits(const uint8_t* qh, uint8_t* n) {
  for (int j = 0; j < 32; ++j) n[j] = static_cast<uint8_t>(n[j] | ((qh[j / 8] >> (j % 8) & 1) << 4));
}

// Scale and minimum j of the 12 bytes that hold eight 6-bit pairs.
void unpack_k_scale(const uint8_t* s, int j, QuantBlock& block) {
  if (j < 4) {
    block.sc = s[j] & 63;
    block.mn = s[j + 4] & 63;
  } else {
    block.sc = static_cast<uint8_t>((s[j + 4] & 15) | (s[j - 4] >> 6) << 4);
    block.mn = static_cast<uint8_t>((s[j + 4] >> 4) | (s[j] >> 6) << 4);
  }
}

// Q4_K and Q5_K: sub-block `sub` is the low (even sub) or high nibbles of 32 bytes.
void nibbles_of_chunk(const uint8_t* qs, int sub, uint8_t* n) {
  const int shift = 4 * (sub % 2);
  for (int l = 0; l < 32; l += 8) store8(n + l, load8(qs + 32 * (sub / 2) + l) >> shift & kNibbles);
}

void decode_q6_k(const uint8_t* p, int sub, QuantBlock& block) {
  const int half = sub / 4, part = sub % 4;
  const uint8_t* ql = p + 64 * half + 32 * (part % 2);
  const uint8_t* qh = p + 128 + 32 * half;
  for (int l = 0; l < 32; l += 8) {
    const uint64_t low = load8(ql + l) >> (4 * (part / 2)) & kNibbles, high = load8(qh + l) >> (2 * part) & kPairs;
    store8(block.n + l, low | high << 4);
  }
  block.sc = p[192 + 8 * half + 2 * part];
  block.mn = p[192 + 8 * half + 2 * part + 1];
  block.d = read_u16(p + 208);
}

}  // namespace

QuantBlock decode_block(TensorType type, const std::byte* row, int64_t index) {
  const TypeTraits& traits = type_traits(type);
  const int64_t blocks = traits.block_elements / 32;  // 1 or 8
  const auto* p = reinterpret_cast<const uint8_t*>(row) + index / blocks * traits.block_bytes;
  const int sub = static_cast<int>(index % blocks);
  QuantBlock block;
  block.d = read_u16(p);
  switch (type) {
    case TensorType::q4_0: nibbles_split(p + 2, block.n); break;
    case TensorType::q4_1:
      block.m = read_u16(p + 2);
      nibbles_split(p + 4, block.n);
      break;
    case TensorType::q5_0:
      nibbles_split(p + 6, block.n);
      add_fifth_bits(p + 2, block.n);
      break;
    case TensorType::q5_1:
      block.m = read_u16(p + 2);
      nibbles_split(p + 8, block.n);
      add_fifth_bits(p + 4, block.n);
      break;
    case TensorType::q8_0: std::memcpy(block.n, p + 2, 32); break;
    case TensorType::q4_k:
      block.m = read_u16(p + 2);
      unpack_k_scale(p + 4, sub, block);
      nibbles_of_chunk(p + 16, sub, block.n);
      break;
    case TensorType::q5_k:
      block.m = read_u16(p + 2);
      unpack_k_scale(p + 4, sub, block);
      nibbles_of_chunk(p + 48, sub, block.n);
      for (int l = 0; l < 32; l += 8) store8(block.n + l, load8(block.n + l) | (load8(p + 16 + l) >> sub & kBits) << 4);
      break;
    case TensorType::q6_k: decode_q6_k(p, sub, block); break;
    case TensorType::f32:
    case TensorType::f16:
    case TensorType::bf16: std::abort();  // no blocks; the caller asks type_traits first
  }
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
        const uint16_t bits = read_u16(reinterpret_cast<const uint8_t*>(src) + 2 * i);
        out[i] = type == TensorType::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
      }
      return;
    default:
      for (int64_t b = 0; b < n / 32; ++b) dequantize_block(type, decode_block(type, src, b), out + 32 * b);
  }
}

}  // namespace outrider::kernels
