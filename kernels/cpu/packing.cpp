#include "kernels/cpu/packing.hpp"

#include <cstring>

#include "kernels/cpu/decode_block.hpp"
#include "kernels/cpu/dequantize.hpp"
#include "kernels/cpu/matmul.hpp"
#include "kernels/half.hpp"

namespace outrider::kernels {
namespace {

// Where block `index` of a group lies: its super-block's header and its own bytes.
struct Place {
  size_t header, block;
};

Place place_of(const BlockLayout& layout, int64_t index) {
  const size_t super_bytes = static_cast<size_t>(layout.header_bytes + layout.subs * layout.block_bytes);
  const size_t header = static_cast<size_t>(index / layout.subs) * super_bytes;
  return {header, header + static_cast<size_t>(layout.header_bytes + index % layout.subs * layout.block_bytes)};
}

uint16_t read_u16(const std::byte* p) {
  uint16_t v;
  std::memcpy(&v, p, 2);
  return v;
}

// A word of each of four lanes. Vectors of 16 bytes are what every x86-64 has, and they already pack faster than memory takes the bytes.
using Words = uint32_t __attribute__((vector_size(16)));

// Row i, column j to row j, column i.
void transpose(Words (&w)[4]) {
  const Words a = __builtin_shufflevector(w[0], w[1], 0, 4, 1, 5), b = __builtin_shufflevector(w[2], w[3], 0, 4, 1, 5);
  const Words c = __builtin_shufflevector(w[0], w[1], 2, 6, 3, 7), d = __builtin_shufflevector(w[2], w[3], 2, 6, 3, 7);
  w[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
  w[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  w[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
  w[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

// Planes and quants of a block. K-group k of four lanes is groups[k / 4][k % 4], so what layout.hpp says of a lane is said here of four.
template <int kBits>
void pack_quants(const QuantBlock (&lanes)[kLanes], std::byte* planes, std::byte* quants) {
  for (int lane = 0; lane < kLanes; lane += 4) {
    const auto store = [lane](std::byte* vectors, int index, Words words) { std::memcpy(vectors + 64 * index + 4 * lane, &words, 16); };
    Words groups[2][4];
    for (int half = 0; half < 2; ++half) {
      for (int i = 0; i < 4; ++i) std::memcpy(&groups[half][i], lanes[lane + i].n + 16 * half, 16);
      transpose(groups[half]);
    }
    Words fifth = {};
    for (int half = 0; half < 2; ++half) {
      const Words(&g)[4] = groups[half];
      if constexpr (kBits == 8) {
        for (int j = 0; j < 4; ++j) store(quants, 4 * half + j, g[j]);
        continue;
      }
      for (int j = 0; j < 4; j += 2) store(quants, 2 * half + j / 2, (g[j] & 0x0f0f0f0fu) | (g[j + 1] & 0x0f0f0f0fu) << 4);
      Words high = {};
      for (int j = 0; j < 4; ++j) {
        if constexpr (kBits == 5) fifth |= (g[j] >> 4 & 0x01010101u) << (4 * half + j);
        if constexpr (kBits == 6) high |= (g[j] >> 4 & 0x03030303u) << (2 * j);
      }
      if constexpr (kBits == 6) store(planes, half, high);
    }
    if constexpr (kBits == 5) store(planes, 0, fifth);
  }
}

// d and m of 16 lanes, as they stand in a header or before a block without one.
template <TensorType kType>
void pack_halves(const QuantBlock (&lanes)[kLanes], std::byte* halves) {
  for (int lane = 0; lane < kLanes; ++lane) {
    std::memcpy(halves + 2 * lane, &lanes[lane].d, 2);
    if constexpr (kLayout<kType>.minimum) std::memcpy(halves + 32 + 2 * lane, &lanes[lane].m, 2);
  }
}

template <TensorType kType>
void pack_quantised(int64_t cols, const std::byte* rows, size_t row_bytes, int row_count, std::byte* out) {
  constexpr BlockLayout kBlock = kLayout<kType>;
  const size_t source_bytes = type_traits(kType).block_bytes;
  QuantBlock lanes[kLanes] = {};  // those of absent rows stay zero
  for (int64_t super = 0; super < cols / 32 / kBlock.subs; ++super) {
    std::byte* const header = out;
    out += kBlock.header_bytes;
    for (int sub = 0; sub < kBlock.subs; ++sub) {
      for (int lane = 0; lane < row_count; ++lane) {
        const std::byte* source = rows + static_cast<size_t>(lane) * row_bytes + static_cast<size_t>(super) * source_bytes;
        decode_block<kType>(reinterpret_cast<const uint8_t*>(source), sub, lanes[lane]);
      }
      if (sub == 0) pack_halves<kType>(lanes, kBlock.subs > 1 ? header : out);
      for (int lane = 0; lane < kLanes && kBlock.subs > 1; ++lane) {
        out[lane] = static_cast<std::byte>(lanes[lane].sc);
        out[16 + lane] = static_cast<std::byte>(lanes[lane].mn);
      }
      std::byte* const planes = out + kBlock.scale_bytes;
      pack_quants<kBlock.bits>(lanes, planes, planes + kBlock.plane_bytes);
      out += kBlock.block_bytes;
    }
  }
}

template <class Element>
void pack_floats(int64_t cols, const std::byte* rows, size_t row_bytes, int row_count, std::byte* out) {
  for (int64_t k = 0; k < cols; ++k, out += kLanes * sizeof(Element)) {
    for (int lane = 0; lane < row_count; ++lane) {
      std::memcpy(out + static_cast<size_t>(lane) * sizeof(Element),
                  rows + static_cast<size_t>(lane) * row_bytes + static_cast<size_t>(k) * sizeof(Element), sizeof(Element));
    }
    if (row_count < kLanes) std::memset(out + row_count * sizeof(Element), 0, static_cast<size_t>(kLanes - row_count) * sizeof(Element));
  }
}

// Bytes of a group before it is rounded up to whole cache lines.
size_t used_group_bytes(TensorType type, int64_t cols) {
  if (is_float_type(type)) return static_cast<size_t>(cols) * kLanes * type_traits(type).block_bytes;
  const BlockLayout& layout = block_layout(type);
  return static_cast<size_t>(cols / 32 * layout.block_bytes + cols / 32 / layout.subs * layout.header_bytes);
}

}  // namespace

bool is_float_type(TensorType type) { return type == TensorType::f32 || type == TensorType::f16 || type == TensorType::bf16; }

const BlockLayout& block_layout(TensorType type) {
  return with_quantised(type, []<TensorType kType>() -> const BlockLayout& { return kLayout<kType>; });
}

size_t packed_group_bytes(TensorType type, int64_t cols) { return (used_group_bytes(type, cols) + 63) / 64 * 64; }

void pack_group(TensorType type, int64_t cols, const std::byte* rows, size_t row_bytes, int row_count, std::byte* group) {
  if (type == TensorType::f32) {
    pack_floats<uint32_t>(cols, rows, row_bytes, row_count, group);
  } else if (is_float_type(type)) {
    pack_floats<uint16_t>(cols, rows, row_bytes, row_count, group);
  } else {
    with_quantised(type, [&]<TensorType kType>() { pack_quantised<kType>(cols, rows, row_bytes, row_count, group); });
  }
  const size_t used = used_group_bytes(type, cols);
  std::memset(group + used, 0, packed_group_bytes(type, cols) - used);
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
  if (block_layout(type).minimum) block.m = read_u16(halves + 32 + 2 * lane);
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

PackedMatrix PackedMatrix::borrow(TensorType type, int64_t rows, int64_t cols, std::span<const std::byte> packed,
                                  std::shared_ptr<const void> owner) {
  PackedMatrix matrix;
  matrix.type_ = type;
  matrix.rows_ = rows;
  matrix.cols_ = cols;
  matrix.group_bytes_ = packed_group_bytes(type, cols);
  matrix.packed_ = packed.data();
  matrix.owner_ = std::move(owner);
  return matrix;
}

PackedMatrix PackedMatrix::pack(TensorType type, int64_t rows, int64_t cols, std::span<const std::byte> source, ThreadPool* pool) {
  PackedMatrix matrix = borrow(type, rows, cols, {}, nullptr);
  matrix.data_.ensure(packed_bytes(type, rows, cols));
  matrix.packed_ = matrix.data_.data();
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

size_t PackedMatrix::packed_bytes(TensorType type, int64_t rows, int64_t cols) {
  return static_cast<size_t>((rows + kLanes - 1) / kLanes) * packed_group_bytes(type, cols);
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
