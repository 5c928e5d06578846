// Linear layers: weights repacked once into row-interleaved blocks (16 output features side by side, one a SIMD lane), activations
// quantised row by row, and a product whose every output is computed in one order whatever the instruction set, the number of rows
// or the number of threads. README.md states the numeric law of each type; reference.hpp is its scalar specification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/aligned_buffer.hpp"
#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/layout.hpp"
#include "kernels/cpu/thread_pool.hpp"
#include "kernels/types.hpp"

namespace outrider::kernels {

inline constexpr int kLanes = 16;  // output features a group interleaves

// Raised whenever a type's packed bytes change, so that packed weights kept on disk are made anew.
inline constexpr uint32_t kPackedLayout = 1;

// A weight [rows = output features, cols = input features], repacked without loss. Padding rows of the last group are zero.
class PackedMatrix {
 public:
  PackedMatrix() = default;

  // Repacks `rows` GGUF rows of `cols` elements; source.size() must be rows * row bytes and cols a multiple of the type's block
  // (the caller has checked). Uses the pool's threads when given.
  static PackedMatrix pack(TensorType type, int64_t rows, int64_t cols, std::span<const std::byte> source, ThreadPool* pool = nullptr);

  // A weight that was packed before: `packed` are packed_bytes() bytes at an address aligned to 64, which `owner` keeps alive.
  static PackedMatrix borrow(TensorType type, int64_t rows, int64_t cols, std::span<const std::byte> packed, std::shared_ptr<const void> owner);

  // Of a packed weight: the same for every instruction set, a multiple of 64.
  static size_t packed_bytes(TensorType type, int64_t rows, int64_t cols);

  [[nodiscard]] TensorType type() const { return type_; }
  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] int64_t cols() const { return cols_; }
  [[nodiscard]] int64_t groups() const { return (rows_ + kLanes - 1) / kLanes; }
  [[nodiscard]] size_t bytes() const { return static_cast<size_t>(groups()) * group_bytes_; }  // in memory, repacked
  [[nodiscard]] const std::byte* group(int64_t index) const { return packed_ + index * group_bytes_; }

  // Row `row` as floats, out[cols]: equal to the bit to dequantising the GGUF row.
  void dequantize_row(int64_t row, float* out) const;

 private:
  TensorType type_ = TensorType::f32;
  int64_t rows_ = 0, cols_ = 0;
  size_t group_bytes_ = 0;
  const std::byte* packed_ = nullptr;  // the groups
  AlignedBuffer<std::byte> data_;      // where they lie, or
  std::shared_ptr<const void> owner_;  // what keeps them alive
};

// The rows a product reads: floats (borrowed) and, for quantised weights, their int8 form. One object serves all the weights of
// one input (Q, K and V; gate and up). Buffers grow to the largest batch seen and are then reused.
class Activations {
 public:
  // Announces M rows of K floats at x, `stride` floats apart. Not thread-safe; call before quantize.
  void assign(const float* x, int64_t rows, int64_t cols, int64_t stride);

  // Quantises rows [begin, end) for products with quantised weights: blocks of 32, symmetric int8, each row alone. Threads may
  // quantise disjoint rows. Not needed when every weight is F32, F16 or BF16.
  void quantize(Isa isa, int64_t begin, int64_t end) { quantize_blocks(isa, begin, end, 0, cols_ / 32); }

  // The same for the blocks [block_begin, block_end) of those rows alone: a thread can quantise the features it has just computed.
  void quantize_blocks(Isa isa, int64_t begin, int64_t end, int64_t block_begin, int64_t block_end);

  // What quantising left of a row: out[i] = fma(-float(q[i]), scale, x[i]), [cols] (a multiple of 32). Quantised in turn and multiplied
  // too, it makes a product some hundred times more accurate, for the price of a second row.
  void residual(Isa isa, int64_t row, float* out) const;

  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] int64_t cols() const { return cols_; }

  // Read by the kernels. Rows stand in tiles of at most kTileRows, split evenly; a tile's rows lie side by side, block after block,
  // so that a kernel walks one stream whatever the number of rows.
  [[nodiscard]] int64_t tiles() const { return (rows_ + kTileRows - 1) / kTileRows; }
  [[nodiscard]] int64_t tile_begin(int64_t tile) const { return rows_ * tile / tiles(); }
  [[nodiscard]] const ActivationBlock* tile_blocks(int64_t tile) const { return blocks_.data() + tile_begin(tile) * (cols_ / 32); }
  [[nodiscard]] const ActivationBlock& block(int64_t row, int64_t index) const;
  [[nodiscard]] const float* x() const { return x_; }
  [[nodiscard]] int64_t stride() const { return stride_; }

 private:
  [[nodiscard]] int64_t tile_of(int64_t row) const;

  const float* x_ = nullptr;
  int64_t rows_ = 0, cols_ = 0, stride_ = 0;
  AlignedBuffer<ActivationBlock> blocks_;
};

// out[m * out_stride + r] = sum over k of weight[r][k] * activations[m][k], for the output groups [group_begin, group_end) (16
// features each; the last may be short: nothing is written past weight.rows()). Threads may compute disjoint groups.
void matmul(Isa isa, const PackedMatrix& weight, const Activations& activations, float* out, int64_t out_stride, int64_t group_begin,
            int64_t group_end);

}  // namespace outrider::kernels
