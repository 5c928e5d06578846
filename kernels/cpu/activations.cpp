// Activations: where rows lie, and their quantisation's scalar form.
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu/matmul.hpp"
#include "kernels/cpu/matmul_isa.hpp"

namespace outrider::kernels {

void Activations::assign(const float* x, int64_t rows, int64_t cols, int64_t stride) {
  x_ = x;
  rows_ = rows;
  cols_ = cols;
  stride_ = stride;
  blocks_.ensure(static_cast<size_t>(rows * (cols / 32)));
}

int64_t Activations::tile_of(int64_t row) const {
  int64_t tile = row * tiles() / rows_;  // right or one too low: tile_begin rounds down
  while (tile + 1 < tiles() && tile_begin(tile + 1) <= row) ++tile;
  return tile;
}

const ActivationBlock& Activations::block(int64_t row, int64_t index) const {
  const int64_t tile = tile_of(row), begin = tile_begin(tile), size = tile_begin(tile + 1) - begin;
  return tile_blocks(tile)[index * size + row - begin];
}

void Activations::quantize_blocks(Isa isa, int64_t begin, int64_t end, int64_t block_begin, int64_t block_end) {
  const int64_t blocks = block_end - block_begin;
  if (blocks <= 0) return;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t tile = tile_of(row), first = tile_begin(tile), size = tile_begin(tile + 1) - first;
    ActivationBlock* out = blocks_.data() + first * (cols_ / 32) + (row - first) + block_begin * size;
    const float* x = x_ + row * stride_ + 32 * block_begin;
    if (isa == Isa::scalar) quantize_row_scalar(x, blocks, out, size);
    else quantize_row_avx2(x, blocks, out, size);
  }
}

void Activations::residual(Isa isa, int64_t row, float* out) const {
  const int64_t tile = tile_of(row), first = tile_begin(tile), size = tile_begin(tile + 1) - first;
  const ActivationBlock* blocks = blocks_.data() + first * (cols_ / 32) + (row - first);
  if (isa == Isa::scalar) residual_row_scalar(x_ + row * stride_, cols_ / 32, blocks, size, out);
  else residual_row_avx2(x_ + row * stride_, cols_ / 32, blocks, size, out);
}

void residual_row_scalar(const float* x, int64_t blocks, const ActivationBlock* in, int64_t stride, float* out) {
  for (int64_t b = 0; b < blocks; ++b, x += 32, out += 32, in += stride) {
    for (int i = 0; i < 32; ++i) out[i] = std::fma(-static_cast<float>(in->q[i]), in->scale, x[i]);
  }
}

void quantize_row_scalar(const float* x, int64_t blocks, ActivationBlock* out, int64_t stride) {
  for (int64_t b = 0; b < blocks; ++b, x += 32, out += stride) {
    // Magnitudes compare as integers do, and infinity and NaN lie above every number.
    uint32_t greatest = 0;
    for (int i = 0; i < 32; ++i) {
      const uint32_t magnitude = std::bit_cast<uint32_t>(x[i]) & 0x7fffffffu;
      if (magnitude > greatest) greatest = magnitude;
    }
    const float amax = std::bit_cast<float>(greatest);
    const bool finite = greatest < 0x7f800000u, zero = amax < kSmallestAmax;
    const float inverse = finite && !zero ? 127.0f / amax : 0.0f;
    int sums[2] = {0, 0};
    for (int i = 0; i < 32; ++i) {
      const int q = finite && !zero ? static_cast<int>(std::nearbyint(x[i] * inverse)) : 0;  // |x * inverse| <= 127 (1 + 2^-22)
      out->q[i] = static_cast<int8_t>(q);
      sums[i / 16] += q;
    }
    const int sum = sums[0] + sums[1];
    out->scale = !finite ? std::numeric_limits<float>::quiet_NaN() : zero ? 0.0f : amax / 127.0f;
    out->scaled_sum = out->scale * static_cast<float>(sum);
    out->bias8 = -8 * sum;
    out->bias16 = -16 * sum;
    out->bias128 = -128 * sum;
    out->bias32[0] = -32 * sums[0];
    out->bias32[1] = -32 * sums[1];
    out->sum = sum;
  }
}

}  // namespace outrider::kernels
