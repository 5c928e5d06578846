// The numbers a GGUF file uses for the types of its metadata values and of its tensors, with their names and sizes. It lists
// tensor types this project does not compute with too, so that they can be refused by name; what can be computed with is
// kernels/types.hpp's business.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace outrider::formats {

enum class ValueType : uint32_t {
  u8 = 0, i8 = 1, u16 = 2, i16 = 3, u32 = 4, i32 = 5, f32 = 6, boolean = 7, string = 8, array = 9, u64 = 10, i64 = 11, f64 = 12,
};
inline constexpr uint32_t kValueTypes = 13;

// "u32", "string", …; "unknown type" for a number that is none of them.
std::string_view name_of(ValueType type);

// Bytes of one value of a fixed size; 0 for strings and arrays.
uint64_t size_of(ValueType type);

bool is_integer(ValueType type);
bool is_float(ValueType type);

struct TensorTypeInfo {
  std::string_view name;
  uint32_t block_elements;  // 0: the layout is not known here (removed from the format, or younger than this reader)
  uint32_t block_bytes;
};

// nullopt for a number the format does not know.
std::optional<TensorTypeInfo> tensor_type_info(uint32_t gguf_type);

}  // namespace outrider::formats
