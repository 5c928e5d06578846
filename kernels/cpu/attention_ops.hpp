// What attention.cpp hands to the file of an instruction set: plain structs of pointers, so that nothing inline is instantiated
// there. Internal to kernels/cpu.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/attention.hpp"

namespace outrider::kernels {

// Floats a thread's scratch holds for each query vector of an item: the query, its scores of the chunk, and its scores of one page.
// The odd multiples of 16 keep the vectors of an item from sharing a few cache sets.
inline constexpr int kQueryStride = 256 + 16;
inline constexpr int kScoreStride = kAttentionChunk + 16;
inline constexpr int kScratchPerQuery = kQueryStride + kScoreStride + kPagePositions;

// One KV head, one chunk, one block of rows of one sequence.
struct AttentionItem {
  const std::byte* data;      // the layer's pages
  size_t page_bytes;
  size_t keys_offset;         // of this KV head within a page: keys [head_dim][16], Q8_0's scales behind them
  size_t value_scales_offset;  // Q8_0's [scale_blocks()][16]
  size_t values_offset;       // values [16][head_dim]
  KvType type;
  int head_dim;
  int group;                  // query heads of this KV head
  int64_t first_query;        // float offset of the group's first head in q
  float scale;
  float soft_cap;             // 0: none
  const AttentionRow* rows;   // row_count <= kAttentionRowBlock, sharing `pages`
  int row_count;
  int32_t chunk_begin;        // absolute position, a multiple of kAttentionChunk
  float* scratch;             // kScratchPerQuery * row_count * group
  float* out;                 // of rows[0], the group's first head, this chunk: [head_dim]
  float* max;                 // likewise, one float
  float* sum;
  int64_t row_stride;         // from a row to the next and from a head to the next, in vectors of `out` and in elements of max, sum
  int64_t head_stride;
};

struct CombineRow {
  const float* partial_out;   // [heads, chunks, head_dim]
  const float* partial_max;   // [heads, chunks]
  const float* partial_sum;
  int heads;
  int head_dim;
  int64_t chunks;             // how many there is room for
  int64_t first;              // the row has chunks [first, used), at least one
  int64_t used;
  float* out;                 // [heads * head_dim]
};

struct AttentionOps {
  void (*partial)(const AttentionItem& item);
  void (*combine)(const CombineRow& row);
  // Stores n floats at keys[i * 16] (a lane of a transposed page) or one after another, rounded to nearest even.
  void (*store_key_f16)(const float* k, int64_t n, uint16_t* keys);
  void (*store_f16)(const float* v, int64_t n, uint16_t* values);
  // Quantises a Q8_0 block of `width` floats, 16 or 32.
  void (*quantize_block)(const float* x, int width, int8_t* quants, uint16_t* scale);
};

extern const AttentionOps kAttentionScalar, kAttentionAvx2, kAttentionAvx512;

}  // namespace outrider::kernels
