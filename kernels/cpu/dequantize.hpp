// GGUF blocks to floats, as the format defines them: Q4_1 is d * n + m, each operation rounded to float, nothing fused. Plain loops,
// for embedding rows, tests and conversions; products never go through here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/types.hpp"

namespace outrider::kernels {

// Writes the n elements at src (n a multiple of the type's block) to out. src needs no alignment. Any thread.
void dequantize_row(TensorType type, const std::byte* src, int64_t n, float* out);

}  // namespace outrider::kernels
