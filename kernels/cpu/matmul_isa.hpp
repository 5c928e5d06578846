// What each instruction set's files provide to matmul.cpp and activations.cpp. Internal to kernels/cpu; declarations only.
#pragma once

#include <cstdint>

#include "kernels/cpu/layout.hpp"

namespace outrider::kernels {

// A block whose greatest magnitude is below this quantises to zeros with scale 0: 127 / amax would overflow for the tiniest.
inline constexpr float kSmallestAmax = 0x1p-100f;

// Quantises `blocks` blocks of 32 floats; out[b * stride] receives block b.
void quantize_row_scalar(const float* x, int64_t blocks, ActivationBlock* out, int64_t stride);
void quantize_row_avx2(const float* x, int64_t blocks, ActivationBlock* out, int64_t stride);

// out[i] of each block = fma(-q[i], scale, x[i]); in[b * stride] is block b.
void residual_row_scalar(const float* x, int64_t blocks, const ActivationBlock* in, int64_t stride, float* out);
void residual_row_avx2(const float* x, int64_t blocks, const ActivationBlock* in, int64_t stride, float* out);

// Computes the task for `rows` rows, 1..kTileRows.
void matmul_tile_scalar(TensorType type, int rows, const TileTask& task);
void matmul_tile_avx2(TensorType type, int rows, const TileTask& task);
void matmul_tile_avx512(TensorType type, int rows, const TileTask& task);
void matmul_tile_avx512_vnni(TensorType type, int rows, const TileTask& task);

}  // namespace outrider::kernels
