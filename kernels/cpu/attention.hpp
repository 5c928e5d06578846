// The KV cache's layout and attention over it. The cache is paged, 16 positions a page, which is also a SIMD vector: keys lie
// transposed (one position a lane), so a score is one chain of fused multiply-adds over the head's features and needs no horizontal sum.
//
// Numeric law, the same for every instruction set, row count and thread count. With p the absolute position:
//   score[p]   = (chain of fma over features 0..head_dim-1, from 0, of q[d] * k[p][d]) * scale, then math.hpp's soft_cap where there is one
//   positions are cut into chunks of kAttentionChunk by absolute position; in each chunk, over the positions the row sees:
//     m_c = max score;  w[p] = exp(score[p] - m_c);  l_c = sum of w in 16 virtual lanes (lane = p mod 16, ascending), added by the
//     fixed tree of math.hpp;  o_c[d] = chain of fma over p ascending, from 0, of w[p] * v[p][d]
//   m = max m_c over the chunks in which the row sees a position;  f_c = exp(m_c - m);  l = chain of fma over c ascending of f_c * l_c;
//   o[d] likewise;  out[d] = o[d] / l   (also where there is one chunk only: exp(0) is exactly 1)
// The cache's type: F32 keeps keys and values, F16 rounds them to nearest even. Q8_0 cuts a head's features into blocks of 32 (the last has
// 16 where head_dim is an odd multiple of 16), each position's block by itself: n = round to nearest even (x * (127 / amax)), an int8, with
// amax the block's greatest |x|, and one scale s = f16(amax / 127). Where s is 0, so are all n. A block with a NaN or infinity, or with an
// s beyond F16, has n = 0 and s = NaN. The scale enters once a block, and in no other place:
//   score[p]: acc * scale; acc = 0, then for b ascending acc = fma(chain over the block, from 0, of q[d] * float(n[p][d]), s[p][b], acc)
//   o_c[d]:   chain of fma over p ascending, from 0, of (w[p] * s[p][b of d]) * float(n[p][d])
// A sliding window is a row's first position: nothing before it is in any sum, and pages wholly before it are not read. A NaN in a row's
// query, or in a position it sees, makes its output NaN; slots it does not see may hold anything. reference_attention.hpp specifies it all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/aligned_buffer.hpp"
#include "kernels/cpu/isa.hpp"

namespace outrider::kernels {

inline constexpr int kPagePositions = 16;
// Positions in a chunk; a multiple of kPagePositions. A chunk of one KV head is the least work that threads share out: with 512, a context
// of 600 left one thread of two with six times the other's work. Combining costs head_dim multiply-adds a head and chunk.
inline constexpr int kAttentionChunk = 256;
inline constexpr int kAttentionRowBlock = 8;  // rows an item holds: with a group of 3 they are 24 query vectors, two passes over the keys

enum class KvType { f16, f32, q8_0 };

std::string_view kv_type_name(KvType type);  // "f16", "f32", "q8_0"
std::optional<KvType> kv_type_from_name(std::string_view name);

inline constexpr int kKvBlock = 32;  // features that share a Q8_0 scale: 8.5 bits a feature, where blocks of 16 would take 9

// One layer's cache. A page holds, for each KV head: keys [head_dim][16], then for each head: values [16][head_dim]. With Q8_0 a head's
// keys are followed by their scales [scale_blocks()][16], F16, and its values follow theirs, laid out alike.
struct KvLayer {
  std::byte* data;    // pages * page_bytes()
  KvType type;
  int kv_heads;
  int head_dim;       // a multiple of 16, at most 256

  [[nodiscard]] size_t element_bytes() const { return type == KvType::f32 ? 4 : type == KvType::f16 ? 2 : 1; }
  [[nodiscard]] size_t scale_blocks() const { return type == KvType::q8_0 ? (static_cast<size_t>(head_dim) + kKvBlock - 1) / kKvBlock : 0; }
  [[nodiscard]] size_t scale_bytes() const { return scale_blocks() * kPagePositions * sizeof(uint16_t); }  // of a head's keys in a page
  [[nodiscard]] size_t head_bytes() const { return element_bytes() * head_dim * kPagePositions + scale_bytes(); }  // likewise, with them
  [[nodiscard]] size_t page_bytes() const { return 2 * static_cast<size_t>(kv_heads) * head_bytes(); }
};

// Writes one position's keys and values [kv_heads * head_dim] into slot `slot` of the sequence whose page table is `pages`
// (slot / 16 indexes it).
void kv_store(Isa isa, const KvLayer& layer, const int32_t* pages, int32_t slot, const float* k, const float* v);

// Copies slot `from` to slot `to` of one sequence (both within its page table), bit for bit: nothing is quantised anew.
void kv_move(const KvLayer& layer, const int32_t* pages, int32_t from, int32_t to);

// One query row. Positions [0, prefix) are at the slots of the same numbers, then prefix, prefix + 1, … at the slots that `path` names
// (a tree node's ancestors and itself; empty when all that is seen is contiguous). It sees those from `first` on.
struct AttentionRow {
  const float* q;        // [heads * head_dim], after RoPE
  const int32_t* pages;  // rows of one sequence share the pointer and stand next to each other
  int32_t prefix;
  const int32_t* path;
  int32_t path_length;   // >= 0; a row that sees nothing at all gets zeros
  int32_t first = 0;     // >= 0; the first position seen, whether contiguous or on the path
  [[nodiscard]] int32_t length() const { return prefix + path_length; }
};

struct AttentionShape {
  int heads;
  float scale;
  float soft_cap = 0.0f;  // of the scores; 0: none
};

// Partial results between the two phases; reused, grows to the largest batch seen.
struct AttentionScratch {
  AlignedBuffer<float> partial_out;   // [rows, heads, chunks, head_dim]
  AlignedBuffer<float> partial_max;   // [rows, heads, chunks]
  AlignedBuffer<float> partial_sum;   // [rows, heads, chunks]
  AlignedBuffer<float> score;         // [threads, query vectors of an item, kScratchPerQuery of attention_ops.hpp]
  int64_t chunks = 0;
};

// Sizes the scratch for a batch, whatever its rows' `first`. Not thread-safe; call once before the phases.
void attention_prepare(AttentionScratch& scratch, const KvLayer& layer, const AttentionShape& shape, std::span<const AttentionRow> rows,
                       int threads);

// Phase one, over items [0, attention_items): any split over threads gives the same bits. An item is one KV head, one chunk and
// one block of neighbouring rows of one sequence, which share every load of K and V (with all the query heads of the KV head).
int64_t attention_items(const KvLayer& layer, std::span<const AttentionRow> rows);
void attention_partial(Isa isa, const KvLayer& layer, const AttentionShape& shape, std::span<const AttentionRow> rows,
                       AttentionScratch& scratch, int thread, int64_t item_begin, int64_t item_end);

// Phase two (after a barrier): combines the chunks of rows [begin, end), row r into out[r * out_stride], [heads * head_dim].
void attention_combine(Isa isa, const KvLayer& layer, const AttentionShape& shape, std::span<const AttentionRow> rows,
                       const AttentionScratch& scratch, int64_t begin, int64_t end, float* out, int64_t out_stride);

}  // namespace outrider::kernels
