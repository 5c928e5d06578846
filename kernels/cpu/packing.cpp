#include "kernels/cpu/packing.hpp"

#include <cstdlib>
#include <cstring>

#include "kernels/cpu/dequantize.hpp"
#include "kernels/cpu/matmul.hpp"
#include "kernels/half.hpp"

namespace outrider::kernels {
namespace {

bool has_minimum(TensorType type) { return type == TensorType::q4_1 || type == TensorType::q5_1; }

// Where block `index` of a group lies: its super-block's header and its own bytes.
struct Place {
  size_t header, block;
};

Place place_of(const BlockLayout& layout, int64_t index) {
  const size_t super_bytes = static_cast<size_t>(layout.header_bytes + layout.subs * layout.block_bytes);
  const size_t header = static_cast<size_t>(index / layout.subs) * super_bytes;
  return {header, header + static_cast<size_t>(layout.header_bytes + index % layout.subs * layout.block_bytes)};
}

void write_u16(std::byte* p, uint16_t v) { std::memcpy(p, &v, 2); }
uint16_t read_u16(const std::byte* p) {
  uint16_t v;
  std::memcpy(&v, p, 2);
  return v;
}

void write_scales(TensorType type, const BlockLayout& layout, const QuantBlock& block, int lane, std::byte* header, std::byte* scales) {
  std::byte* halves = layout.subs > 1 ? header : scales;
  write_u16(halves + 2 * lane, block.d);
  if (has_minimum(type) || type == TensorType::q4_k || type == TensorType::q5_k) write_u16(halves + 32 + 2 * lane, block.m);
  if (layout.subs > 1) {
    scales[lane] = static_cast<std::byte>(block.sc);
    scales[16 + lane] = static_cast<std::byte>(block.mn);
  }
}

void pack_block(const BlockLayout& layout, const QuantBlock (&lanes)[kLanes], std::byte* out) {
  std::byte* planes = out + layout.scale_bytes;
  std::byte* quants = planes + layout.plane_bytes;
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t words[8];  // one a k-group
    std::memcpy(words, lanes[lane].n, 32);
    if (layout.bits == 8) {
      for (int g = 0; g < 8; ++g) std::memcpy(quants + 64 * g + 4 * lane, &words[g], 4);
      continue;
    }
    for (int v = 0; v < 4; ++v) {
      const uint32_t pair = (words[2 * v] & 0x0f0f0f0fu) | (words[2 * v + 1] & 0x0f0f0f0fu) << 4;
      std::memcpy(quants + 64 * v + 4 * lane, &pair, 4);
    }
    if (layout.bits == 5) {
      uint32_t plane = 0;
      for (int g = 0; g < 8; ++g) plane |= (words[g] >> 4 & 0x01010101u) << g;
      std::memcpy(planes + 4 * lane, &plane, 4);
    } else if (layout.bits == 6) {
      for (int h = 0; h < 2; ++h) {
        uint32_t plane = 0;
        for (int j = 0; j < 4; ++j) plane |= (words[4 * h + j] >> 4 & 0x03030303u) << 2 * j;
        std::memcpy(planes + 64 * h + 4 * lane, &plane, 4);
      }
    }
  }
}

}  // namespace

bool is_float_type(TensorType type) { return type == TensorType::f32 || type == TensorType::f16 || type == TensorType::bf16; }

const BlockLayout& block_layout(TensorType type) {
  switch (type) {
    case TensorType::q4_0: return kLayout<TensorType::q4_0>;
    case TensorType::q4_1: return kLayout<TensorType::q4_1>;
    case TensorType::q5_0: return kLayout<TensorType::q5_0>;
    case TensorType::q5_1: return kLayout<TensorType::q5_1>;
    case TensorType::q8_0: return kLayout<TensorType::q8_0>;
    case TensorType::q4_k: return kLayout<TensorType::q4_k>;
    case TensorType::q5_k: return kLayout<TensorType::q5_k>;
    case TensorType::q6_k: return kLayout<TensorType::q6_k>;
    default: std::abort();
  }
}

size_t packed_group_bytes(TensorType type, int64_t cols) {
  size_t bytes;
  if (is_float_type(type)) {
    bytes = static_cast<size_t>(cols) * kLanes * type_traits(type).block_bytes;
  } else {
    const BlockLayout& layout = block_layout(type);
    bytes = static_cast<size_t>(cols / 32 * layout.block_bytes + cols / 32 / layout.subs * layout.header_bytes);
  }
  return (bytes + 63) / 64 * 64;
}

void pack_group(TensorType type, int64_t cols, const std::byte* rows, size_t row_bytes, int row_count, std::byte* group) {
  if (is_float_type(type)) {
    const size_t size = type_traits(type).block_bytes;
    if (row_count < kLanes) std::memset(group, 0, packed_group_bytes(type, cols));
    for (int64_t k = 0; k < cols; ++k)
      for (int lane = 0; lane < row_count; ++lane)
        std::memcpy(group + (static_cast<size_t>(k) * kLanes + static_cast<size_t>(lane)) * size,
                    rows + static_cast<size_t>(lane) * row_bytes + static_cast<size_t>(k) * size, size);
    return;
  }
  const BlockLayout& layout = block_layout(type);
  QuantBlock lanes[kLanes] = {};
  for (int64_t b = 0; b < cols / 32; ++b) {
    const Place place = place_of(layout, b);
    for (int lane = 0; lane < kLanes; ++lane) {
      if (lane < row_count) lanes[lane] = decode_block(type, rows + static_cast<size_t>(lane) * row_bytes, b);
      write_scales(type, layout, lanes[lane], lane, group + place.header, group + place.block);
    }
    pack_block(layout, lanes, group + place.block);
  }
}

QuantBlock unpack_block(TensorType type, const std::byte* group, int lane, int64_t index) {
  const BlockLayout& layout = block_layout(type);
  const Place place = place_of(layout, index);
  const std::byte* scales = group + place.block;
  const std::byte* planes = scales + layout.scale_bytes;
  const std::byte* quants = planes + layout.plane_bytes;
  QuantBlock block;
  const std::byte* halves = layout.subs > 1 ? group + place.header : scales;
  block.d = read_u16(halves + 2 * lane);
  if (has_minimum(type) || type == TensorType::q4_k || type == TensorType::q5_k) block.m = read_u16(halves + 32 + 2 * lane);
  if (layout.subs > 1) {
    block.sc = static_cast<uint8_t>(scales[lane]);
    block.mn = static_cast<uint8_t>(scales[16 + lane]);
  }
  for (int k = 0; k < 32; ++k) {
    const int g = k / 4, byte = 4 * lane + k % 4;
    int n;
    if (layout.bits == 8) n = static_cast<int>(quants[64 * g + byte]);
    else n = static_cast<int>(quants[64 * (g / 2) + byte]) >> (4 * (g % 2)) & 15;
    if (layout.bits == 5) n |= (static_cast<int>(planes[byte]) >> g & 1) << 4;
    if (layout.bits == 6) n |= (static_cast<int>(planes[64 * (g / 4) + byte]) >> (2 * (g % 4)) & 3) << 4;
    block.n[k] = static_cast<uint8_t>(n);
  }
  return block;
}

PackedMatrix PackedMatrix::pack(TensorType type, int64_t rows, int64_t cols, std::span<const std::byte> source, ThreadPool* pool) {
  PackedMatrix matrix;
  matrix.type_ = type;
  matrix.rows_ = rows;
  matrix.cols_ = cols;
  matrix.group_bytes_ = packed_group_bytes(type, cols);
  matrix.data_.ensure(matrix.group_bytes_ * static_cast<size_t>(matrix.groups()));
  const TypeTraits& traits = type_traits(type);
  const size_t row_bytes = static_cast<size_t>(cols) / traits.block_elements * traits.block_bytes;
  const auto pack_share = [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const int64_t first = g * kLanes, left = rows - first;
      pack_group(type, cols, source.data() + static_cast<size_t>(first) * row_bytes, row_bytes,
                 static_cast<int>(left < kLanes ? left : kLanes), matrix.data_.data() + static_cast<size_t>(g) * matrix.group_bytes_);
    }
  };
  if (pool == nullptr) {
    pack_share(0, matrix.groups());
  } else {
    pool->run([&](const Worker& worker) {
      const auto [begin, end] = worker.share(matrix.groups());
      pack_share(begin, end);
    });
  }
  return matrix;
}

void PackedMatrix::dequantize_row(int64_t row, float* out) const {
  const std::byte* packed = group(row / kLanes);
  const int lane = static_cast<int>(row % kLanes);
  if (is_float_type(type_)) {
    const size_t size = type_traits(type_).block_bytes;
    for (int64_t k = 0; k < cols_; ++k)
      kernels::dequantize_row(type_, packed + static_cast<size_t>(k * kLanes + lane) * size, 1, out + k);
    return;
  }
  for (int64_t b = 0; b < cols_ / 32; ++b) dequantize_block(type_, unpack_block(type_, packed, lane, b), out + 32 * b);
}

}  // namespace outrider::kernels
