// decode_block with the type known at compile time: loops of fixed length that the compiler turns into vector code. Internal to
// kernels/cpu, and not for the files of an instruction set (kernels/CMakeLists.txt says why).
#pragma once

#include <cstdlib>
#include <cstring>

#include "kernels/cpu/gguf_block.hpp"
#include "kernels/cpu/layout.hpp"

namespace outrider::kernels {

// Calls f.operator()<type>() for a quantised type.
template <class F>
decltype(auto) with_quantised(TensorType type, F&& f) {
  switch (type) {
    case TensorType::q4_0:
      return f.template operator()<TensorType::q4_0>();
    case TensorType::q4_1:
      return f.template operator()<TensorType::q4_1>();
    case TensorType::q5_0:
      return f.template operator()<TensorType::q5_0>();
    case TensorType::q5_1:
      return f.template operator()<TensorType::q5_1>();
    case TensorType::q8_0:
      return f.template operator()<TensorType::q8_0>();
    case TensorType::q4_k:
      return f.template operator()<TensorType::q4_k>();
    case TensorType::q5_k:
      return f.template operator()<TensorType::q5_k>();
    case TensorType::q6_k:
      return f.template operator()<TensorType::q6_k>();
    case TensorType::f32:
    case TensorType::f16:
    case TensorType::bf16:
      break;
  }
  std::abort();  // no blocks; the caller asks type_traits first
}

template <class T>
T load(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Element j from the low nibble of byte j, element j + 16 from its high one.
inline void nibbles_split(const uint8_t* qs, uint8_t* n) {
  for (int j = 0; j < 16; ++j) {
    n[j] = qs[j] & 15;
    n[j + 16] = qs[j] >> 4;
  }
}

// Bit j of qh is the fifth of element j. Eight elements at once: byte j of eight copies of a byte keeps bit j alone, and the sum carries
// any bit into bit 7.
inline void add_fifth_bits(const uint8_t* qh, uint8_t* n) {
  for (int j = 0; j < 32; j += 8) {
    const uint64_t bits = qh[j / 8] * uint64_t{0x0101010101010101} & 0x8040201008040201;
    const uint64_t whole = load<uint64_t>(n + j) | ((bits + 0x7f7f7f7f7f7f7f7f) >> 3 & 0x1010101010101010);
    std::memcpy(n + j, &whole, 8);
  }
}

// Scale and minimum j of the 12 bytes that hold eight 6-bit pairs.
inline void unpack_k_scale(const uint8_t* s, int j, QuantBlock& block) {
  if (j < 4) {
    block.sc = s[j] & 63;
    block.mn = s[j + 4] & 63;
  } else {
    block.sc = static_cast<uint8_t>((s[j + 4] & 15) | (s[j - 4] >> 6) << 4);
    block.mn = static_cast<uint8_t>((s[j + 4] >> 4) | (s[j] >> 6) << 4);
  }
}

// Q4_K and Q5_K: sub-block `sub` is the low (even sub) or high nibbles of 32 bytes.
inline void nibbles_of_chunk(const uint8_t* qs, int sub, uint8_t* n) {
  const int shift = 4 * (sub % 2);
  for (int l = 0; l < 32; ++l) n[l] = static_cast<uint8_t>(qs[32 * (sub / 2) + l] >> shift & 15);
}

inline void decode_q6_k(const uint8_t* p, int sub, QuantBlock& block) {
  const int half = sub / 4, part = sub % 4;
  const uint8_t* ql = p + 64 * half + 32 * (part % 2);
  const uint8_t* qh = p + 128 + 32 * half;
  for (int l = 0; l < 32; ++l) {
    block.n[l] = static_cast<uint8_t>((ql[l] >> (4 * (part / 2)) & 15) | (qh[l] >> (2 * part) & 3) << 4);
  }
  block.sc = p[192 + 8 * half + 2 * part];
  block.mn = p[192 + 8 * half + 2 * part + 1];
  block.d = load<uint16_t>(p + 208);
}

// Takes block `sub` of the GGUF block or super-block at p apart; fields that the type knows nothing of keep their values.
template <TensorType kType>
void decode_block(const uint8_t* p, int sub, QuantBlock& block) {
  if constexpr (kType == TensorType::q6_k) {
    decode_q6_k(p, sub, block);
    return;
  }
  block.d = load<uint16_t>(p);
  if constexpr (kLayout<kType>.minimum) block.m = load<uint16_t>(p + 2);
  if constexpr (kType == TensorType::q4_0) nibbles_split(p + 2, block.n);
  if constexpr (kType == TensorType::q4_1) nibbles_split(p + 4, block.n);
  if constexpr (kType == TensorType::q5_0) {
    nibbles_split(p + 6, block.n);
    add_fifth_bits(p + 2, block.n);
  }
  if constexpr (kType == TensorType::q5_1) {
    nibbles_split(p + 8, block.n);
    add_fifth_bits(p + 4, block.n);
  }
  if constexpr (kType == TensorType::q8_0) std::memcpy(block.n, p + 2, 32);
  if constexpr (kType == TensorType::q4_k) {
    unpack_k_scale(p + 4, sub, block);
    nibbles_of_chunk(p + 16, sub, block.n);
  }
  if constexpr (kType == TensorType::q5_k) {
    unpack_k_scale(p + 4, sub, block);
    nibbles_of_chunk(p + 48, sub, block.n);
    for (int l = 0; l < 32; ++l) block.n[l] = static_cast<uint8_t>(block.n[l] | (p[16 + l] >> sub & 1) << 4);
  }
}

}  // namespace outrider::kernels
