// The scalar specification of matmul: what README.md's numeric laws say, in plain loops straight from GGUF blocks. It shares no
// code with the kernels, the packing or the dequantising, and is as slow as it looks; tests hold everything else to its bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/types.hpp"

namespace outrider::kernels {

// out[m * out_stride + r] = sum over k of weight[r][k] * x[m * stride + k], for `rows` GGUF rows of `cols` elements at `gguf` and M
// rows of floats. Which NaN a NaN result is, is not specified.
void reference_matmul(TensorType type, int64_t rows, int64_t cols, const std::byte* gguf, const float* x, int64_t m_rows, int64_t stride,
                      float* out, int64_t out_stride);

}  // namespace outrider::kernels
