#include "kernels/types.hpp"

#include <array>
#include <cstdlib>
#include <utility>

namespace outrider::kernels {
namespace {

constexpr std::array<std::pair<TensorType, TypeTraits>, 11> kTypes{{
    {TensorType::f32, {"F32", 1, 4}},
    {TensorType::f16, {"F16", 1, 2}},
    {TensorType::bf16, {"BF16", 1, 2}},
    {TensorType::q4_0, {"Q4_0", 32, 18}},
    {TensorType::q4_1, {"Q4_1", 32, 20}},
    {TensorType::q5_0, {"Q5_0", 32, 22}},
    {TensorType::q5_1, {"Q5_1", 32, 24}},
    {TensorType::q8_0, {"Q8_0", 32, 34}},
    {TensorType::q4_k, {"Q4_K", 256, 144}},
    {TensorType::q5_k, {"Q5_K", 256, 176}},
    {TensorType::q6_k, {"Q6_K", 256, 210}},
}};

}  // namespace

std::optional<TypeTraits> type_traits(uint32_t gguf_type) {
  for (const auto& [type, traits] : kTypes)
    if (static_cast<uint32_t>(type) == gguf_type) return traits;
  return std::nullopt;
}

const TypeTraits& type_traits(TensorType type) {
  for (const auto& entry : kTypes)
    if (entry.first == type) return entry.second;
  std::abort();  // a TensorType is made only from an id that the function above knows
}

}  // namespace outrider::kernels
