// Cuts a batch into items, chooses the instruction set, and stores keys and values.
#include "kernels/cpu/attention.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "kernels/cpu/attention_ops.hpp"

namespace outrider::kernels {
namespace {

const AttentionOps& ops(Isa isa) {
  switch (isa) {
    case Isa::scalar:
      return kAttentionScalar;
    case Isa::avx2:
      return kAttentionAvx2;
    case Isa::avx512:
    case Isa::avx512_vnni:
      return kAttentionAvx512;  // attention has no integer products
  }
  return kAttentionScalar;
}

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Neighbouring rows of one sequence. Its items are numbered chunk by chunk, then KV head by KV head, then block by block, so that
// the blocks that read one chunk of one head follow each other.
struct Run {
  size_t first_row;
  int64_t rows, blocks;
  int64_t first_chunk, chunks;  // chunks [first_chunk, first_chunk + chunks) hold all that its rows see
  [[nodiscard]] int64_t items(int kv_heads) const { return blocks * chunks * kv_heads; }
};

Run run_at(std::span<const AttentionRow> rows, size_t first) {
  size_t end = first;
  int32_t longest = 0, lowest = rows[first].first;
  for (; end < rows.size() && rows[end].pages == rows[first].pages; ++end) {
    longest = std::max(longest, rows[end].length());
    lowest = std::min(lowest, rows[end].first);
  }
  const auto count = static_cast<int64_t>(end - first);
  const int64_t first_chunk = lowest / kAttentionChunk;
  return {first, count, divide_up(count, kAttentionRowBlock), first_chunk,
          std::max<int64_t>(divide_up(longest, kAttentionChunk) - first_chunk, 0)};
}

std::byte* page_of(const KvLayer& layer, const int32_t* pages, int32_t slot) {
  return layer.data + static_cast<size_t>(pages[slot / kPagePositions]) * layer.page_bytes();
}

// Copies one lane of `rows` rows of a page's 16.
template <class T>
void move_lane(const std::byte* from_rows, size_t from, std::byte* to_rows, size_t to, size_t rows) {
  const T* source = reinterpret_cast<const T*>(from_rows);
  T* target = reinterpret_cast<T*>(to_rows);
  for (size_t row = 0; row < rows; ++row) target[row * kPagePositions + to] = source[row * kPagePositions + from];
}

// Copies one position: a lane of each head's transposed keys and of all scales, a row of its values.
template <class T>
void move_position(const KvLayer& layer, const std::byte* from_page, size_t from, std::byte* to_page, size_t to) {
  const size_t head_dim = static_cast<size_t>(layer.head_dim), kv_heads = static_cast<size_t>(layer.kv_heads);
  const size_t row_bytes = head_dim * sizeof(T), keys_bytes = row_bytes * kPagePositions;
  for (size_t h = 0; h < kv_heads; ++h) {
    const size_t keys = h * layer.head_bytes(), value_scales = (kv_heads + h) * layer.head_bytes();
    const size_t values = value_scales + layer.scale_bytes();
    move_lane<T>(from_page + keys, from, to_page + keys, to, head_dim);
    move_lane<uint16_t>(from_page + keys + keys_bytes, from, to_page + keys + keys_bytes, to, layer.scale_blocks());
    move_lane<uint16_t>(from_page + value_scales, from, to_page + value_scales, to, layer.scale_blocks());
    std::memcpy(to_page + values + to * row_bytes, from_page + values + from * row_bytes, row_bytes);
  }
}

void store_q8(Isa isa, const KvLayer& layer, std::byte* page, int lane, const float* k, const float* v) {
  for (int h = 0; h < layer.kv_heads; ++h) {
    std::byte* head_keys = page + static_cast<size_t>(h) * layer.head_bytes();
    std::byte* head_values = head_keys + static_cast<size_t>(layer.kv_heads) * layer.head_bytes();
    auto* keys = reinterpret_cast<int8_t*>(head_keys);
    auto* key_scales = reinterpret_cast<uint16_t*>(keys + layer.head_dim * kPagePositions);
    auto* value_scales = reinterpret_cast<uint16_t*>(head_values);
    auto* values = reinterpret_cast<int8_t*>(head_values + layer.scale_bytes());
    for (int d = 0; d < layer.head_dim; d += kKvBlock) {
      const int width = std::min(kKvBlock, layer.head_dim - d), scale = d / kKvBlock * kPagePositions + lane;
      int8_t quants[kKvBlock];
      ops(isa).quantize_block(k + h * layer.head_dim + d, width, quants, key_scales + scale);
      for (int i = 0; i < width; ++i) keys[(d + i) * kPagePositions + lane] = quants[i];
      ops(isa).quantize_block(v + h * layer.head_dim + d, width, values + lane * layer.head_dim + d, value_scales + scale);
    }
  }
}

}  // namespace

std::string_view kv_type_name(KvType type) {
  switch (type) {
    case KvType::f16: return "f16";
    case KvType::f32: return "f32";
    case KvType::q8_0: return "q8_0";
  }
  return "unknown";
}

std::optional<KvType> kv_type_from_name(std::string_view name) {
  for (const KvType type : {KvType::f16, KvType::f32, KvType::q8_0})
    if (kv_type_name(type) == name) return type;
  return std::nullopt;
}

void kv_store(Isa isa, const KvLayer& layer, const int32_t* pages, int32_t slot, const float* k, const float* v) {
  const int64_t features = static_cast<int64_t>(layer.kv_heads) * layer.head_dim;
  const int lane = slot % kPagePositions;
  std::byte* page = page_of(layer, pages, slot);
  if (layer.type == KvType::q8_0) return store_q8(isa, layer, page, lane, k, v);
  if (layer.type == KvType::f16) {
    auto* keys = reinterpret_cast<uint16_t*>(page);
    ops(isa).store_key_f16(k, features, keys + lane);
    uint16_t* values = keys + features * kPagePositions;
    for (int64_t h = 0; h < layer.kv_heads; ++h)
      ops(isa).store_f16(v + h * layer.head_dim, layer.head_dim, values + (h * kPagePositions + lane) * layer.head_dim);
    return;
  }
  auto* keys = reinterpret_cast<float*>(page);
  for (int64_t d = 0; d < features; ++d) keys[d * kPagePositions + lane] = k[d];
  float* values = keys + features * kPagePositions;
  for (int64_t h = 0; h < layer.kv_heads; ++h)
    std::copy_n(v + h * layer.head_dim, layer.head_dim, values + (h * kPagePositions + lane) * layer.head_dim);
}

void kv_move(const KvLayer& layer, const int32_t* pages, int32_t from, int32_t to) {
  if (from == to) return;
  const std::byte* from_page = page_of(layer, pages, from);
  std::byte* to_page = page_of(layer, pages, to);
  const size_t from_lane = static_cast<size_t>(from % kPagePositions), to_lane = static_cast<size_t>(to % kPagePositions);
  switch (layer.type) {
    case KvType::f16: return move_position<uint16_t>(layer, from_page, from_lane, to_page, to_lane);
    case KvType::f32: return move_position<float>(layer, from_page, from_lane, to_page, to_lane);
    case KvType::q8_0: return move_position<int8_t>(layer, from_page, from_lane, to_page, to_lane);
  }
}

void attention_prepare(AttentionScratch& scratch, const KvLayer& layer, const AttentionShape& shape, std::span<const AttentionRow> rows,
                       int threads) {
  assert(layer.head_dim % 16 == 0 && layer.head_dim <= 256 && shape.heads % layer.kv_heads == 0);
  int32_t longest = 1;
  for (const AttentionRow& row : rows) longest = std::max(longest, row.length());
  scratch.chunks = divide_up(longest, kAttentionChunk);
  // Room for the next power of two, so that a context that grows allocates seldom.
  const size_t parts = rows.size() * static_cast<size_t>(shape.heads) * std::bit_ceil(static_cast<size_t>(scratch.chunks));
  scratch.partial_out.ensure(parts * static_cast<size_t>(layer.head_dim));
  scratch.partial_max.ensure(parts);
  scratch.partial_sum.ensure(parts);
  const size_t most_queries = kAttentionRowBlock * static_cast<size_t>(shape.heads / layer.kv_heads);
  scratch.score.ensure(static_cast<size_t>(threads) * most_queries * kScratchPerQuery);
}

int64_t attention_items(const KvLayer& layer, std::span<const AttentionRow> rows) {
  int64_t items = 0;
  for (size_t first = 0; first < rows.size();) {
    const Run run = run_at(rows, first);
    items += run.items(layer.kv_heads);
    first += static_cast<size_t>(run.rows);
  }
  return items;
}

void attention_partial(Isa isa, const KvLayer& layer, const AttentionShape& shape, std::span<const AttentionRow> rows,
                       AttentionScratch& scratch, int thread, int64_t item_begin, int64_t item_end) {
  const int group = shape.heads / layer.kv_heads;
  const size_t head_bytes = layer.head_bytes(), keys_bytes = head_bytes * static_cast<size_t>(layer.kv_heads);
  float* own_scratch = scratch.score.data() + static_cast<int64_t>(thread) * kAttentionRowBlock * group * kScratchPerQuery;
  int64_t run_begin = 0;  // the number of the run's first item
  for (size_t first = 0; first < rows.size() && run_begin < item_end;) {
    const Run run = run_at(rows, first);
    const int64_t run_items = run.items(layer.kv_heads);
    for (int64_t i = std::max<int64_t>(item_begin - run_begin, 0); i < std::min(item_end - run_begin, run_items); ++i) {
      const int64_t block = i % run.blocks, kv_head = i / run.blocks % layer.kv_heads;
      const int64_t chunk = run.first_chunk + i / run.blocks / layer.kv_heads;
      const int64_t row = static_cast<int64_t>(first) + block * kAttentionRowBlock;
      const int64_t part = (row * shape.heads + kv_head * group) * scratch.chunks + chunk;
      ops(isa).partial({
          .data = layer.data,
          .page_bytes = layer.page_bytes(),
          .keys_offset = static_cast<size_t>(kv_head) * head_bytes,
          .value_scales_offset = keys_bytes + static_cast<size_t>(kv_head) * head_bytes,
          .values_offset = keys_bytes + static_cast<size_t>(kv_head) * head_bytes + layer.scale_bytes(),
          .type = layer.type,
          .head_dim = layer.head_dim,
          .group = group,
          .first_query = kv_head * group * layer.head_dim,
          .scale = shape.scale,
          .soft_cap = shape.soft_cap,
          .rows = rows.data() + row,
          .row_count = static_cast<int>(std::min<int64_t>(kAttentionRowBlock, run.rows - block * kAttentionRowBlock)),
          .chunk_begin = static_cast<int32_t>(chunk * kAttentionChunk),
          .scratch = own_scratch,
          .out = scratch.partial_out.data() + part * layer.head_dim,
          .max = scratch.partial_max.data() + part,
          .sum = scratch.partial_sum.data() + part,
          .row_stride = shape.heads * scratch.chunks,
          .head_stride = scratch.chunks,
      });
    }
    run_begin += run_items;
    first += static_cast<size_t>(run.rows);
  }
}

void attention_combine(Isa isa, const KvLayer& layer, const AttentionShape& shape, std::span<const AttentionRow> rows,
                       const AttentionScratch& scratch, int64_t begin, int64_t end, float* out, int64_t out_stride) {
  const int64_t parts = shape.heads * scratch.chunks;
  for (int64_t r = begin; r < end; ++r) {
    const AttentionRow& row = rows[static_cast<size_t>(r)];
    if (row.length() <= row.first) {  // nothing is seen: the output is zero
      std::fill_n(out + r * out_stride, static_cast<int64_t>(shape.heads) * layer.head_dim, 0.0f);
      continue;
    }
    ops(isa).combine({
        .partial_out = scratch.partial_out.data() + r * parts * layer.head_dim,
        .partial_max = scratch.partial_max.data() + r * parts,
        .partial_sum = scratch.partial_sum.data() + r * parts,
        .heads = shape.heads,
        .head_dim = layer.head_dim,
        .chunks = scratch.chunks,
        .first = row.first / kAttentionChunk,
        .used = divide_up(row.length(), kAttentionChunk),
        .out = out + r * out_stride,
    });
  }
}

}  // namespace outrider::kernels
