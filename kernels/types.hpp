// The tensor types this project computes with, numbered as in GGUF, and how each packs its elements into blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace outrider::kernels {

enum class TensorType : uint32_t {
  f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q5_0 = 6, q5_1 = 7, q8_0 = 8, q4_k = 12, q5_k = 13, q6_k = 14, bf16 = 30,
};

struct TypeTraits {
  std::string_view name;    // as GGUF tools print it: "Q4_1"
  uint32_t block_elements;  // a row's length must be a multiple of this
  uint32_t block_bytes;
};

// The traits of a GGUF type id; nullopt for a type this project does not compute with.
std::optional<TypeTraits> type_traits(uint32_t gguf_type);
const TypeTraits& type_traits(TensorType type);
[[nodiscard]] bool is_float_type(TensorType type);  // F32, F16, BF16: activations stay float

}  // namespace outrider::kernels
