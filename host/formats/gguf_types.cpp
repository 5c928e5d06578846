#include "formats/gguf_types.hpp"

#include <array>

#include "formats/gguf.hpp"

namespace outrider::formats {
namespace {

struct ValueTypeInfo {
  std::string_view name;
  uint64_t bytes;
};

constexpr std::array<ValueTypeInfo, kValueTypes> kValues = {{
    {"u8", 1}, {"i8", 1}, {"u16", 2}, {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},
    {"bool", 1}, {"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8},
}};

// Indexed by the file's number. Numbers the format once had and dropped keep their names, for the error message.
constexpr std::array<TensorTypeInfo, 43> kTensors = {{
    {"F32", 1, 4}, {"F16", 1, 2}, {"Q4_0", 32, 18}, {"Q4_1", 32, 20}, {"Q4_2", 0, 0}, {"Q4_3", 0, 0},
    {"Q5_0", 32, 22}, {"Q5_1", 32, 24}, {"Q8_0", 32, 34}, {"Q8_1", 32, 36}, {"Q2_K", 256, 84}, {"Q3_K", 256, 110},
    {"Q4_K", 256, 144}, {"Q5_K", 256, 176}, {"Q6_K", 256, 210}, {"Q8_K", 256, 292}, {"IQ2_XXS", 256, 66}, {"IQ2_XS", 256, 74},
    {"IQ3_XXS", 256, 98}, {"IQ1_S", 256, 50}, {"IQ4_NL", 32, 18}, {"IQ3_S", 256, 110}, {"IQ2_S", 256, 82}, {"IQ4_XS", 256, 136},
    {"I8", 1, 1}, {"I16", 1, 2}, {"I32", 1, 4}, {"I64", 1, 8}, {"F64", 1, 8}, {"IQ1_M", 256, 56},
    {"BF16", 1, 2}, {"Q4_0_4_4", 0, 0}, {"Q4_0_4_8", 0, 0}, {"Q4_0_8_8", 0, 0}, {"TQ1_0", 256, 54}, {"TQ2_0", 256, 66},
    {"IQ4_NL_4_4", 0, 0}, {"IQ4_NL_4_8", 0, 0}, {"IQ4_NL_8_8", 0, 0}, {"MXFP4", 32, 17}, {"NVFP4", 64, 36}, {"Q1_0", 128, 18},
    {"Q2_0", 0, 0},
}};

}  // namespace

std::string_view name_of(ValueType type) {
  const auto index = static_cast<uint32_t>(type);
  return index < kValueTypes ? kValues[index].name : "unknown type";
}

uint64_t size_of(ValueType type) {
  const auto index = static_cast<uint32_t>(type);
  return index < kValueTypes ? kValues[index].bytes : 0;
}

bool is_integer(ValueType type) {
  return size_of(type) > 0 && type != ValueType::boolean && !is_float(type);
}

bool is_float(ValueType type) { return type == ValueType::f32 || type == ValueType::f64; }

std::optional<TensorTypeInfo> tensor_type_info(uint32_t gguf_type) {
  if (gguf_type >= kTensors.size()) return std::nullopt;
  return kTensors[gguf_type];
}

std::string_view gguf_type_name(uint32_t gguf_type) {
  const auto info = tensor_type_info(gguf_type);
  return info ? info->name : "unknown type";
}

}  // namespace outrider::formats
