// How a repacked weight lies in memory and, with a version (kPackedLayout), on disk, as constants that every instruction set's file may
// include (no code here). README.md draws it.
//
// A group is 16 output features (lanes). Quantised types walk K in blocks of 32, stored one after the other, K types with a header
// before every eight blocks:
//   header   Q4_K, Q5_K: d[16], dmin[16] as f16. Q6_K: d[16].
//   scales   Q4_0, Q5_0, Q8_0: d[16]. Q4_1, Q5_1: d[16], m[16]. Q4_K, Q5_K: sc[16], mn[16] as uint8. Q6_K: sc[2][16] as int8.
//   planes   the bits above the nibble. A 64-byte vector v below has the bytes of 4 consecutive k for each lane, 16 x 4.
//            5 bits: one vector of bytes; bit g of byte i belongs to byte i of k-group g.
//            6 bits: two vectors; bits 2j, 2j + 1 of byte i of vector h belong to byte i of k-group 4h + j.
//   quants   4 bits: four vectors; vector v has k-group 2v in its low nibbles and 2v + 1 in its high ones. Q8_0: eight vectors.
// Float types: for each k, the 16 lanes' elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/types.hpp"

namespace outrider::kernels {

struct BlockLayout {
  int bits;            // of a quant
  int subs;            // blocks of 32 that share a header
  int header_bytes;
  int scale_bytes;
  int plane_bytes;
  int quant_bytes;
  int block_bytes;     // scales + planes + quants
  bool minimum;        // a value has a part that its quant does not scale (QuantBlock::m)
};

template <TensorType kType>
inline constexpr BlockLayout kLayout{};
template <> inline constexpr BlockLayout kLayout<TensorType::q4_0>{4, 1, 0, 32, 0, 256, 288, false};
template <> inline constexpr BlockLayout kLayout<TensorType::q4_1>{4, 1, 0, 64, 0, 256, 320, true};
template <> inline constexpr BlockLayout kLayout<TensorType::q5_0>{5, 1, 0, 32, 64, 256, 352, false};
template <> inline constexpr BlockLayout kLayout<TensorType::q5_1>{5, 1, 0, 64, 64, 256, 384, true};
template <> inline constexpr BlockLayout kLayout<TensorType::q8_0>{8, 1, 0, 32, 0, 512, 544, false};
template <> inline constexpr BlockLayout kLayout<TensorType::q4_k>{4, 8, 64, 32, 0, 256, 288, true};
template <> inline constexpr BlockLayout kLayout<TensorType::q5_k>{5, 8, 64, 32, 64, 256, 352, true};
template <> inline constexpr BlockLayout kLayout<TensorType::q6_k>{6, 8, 32, 32, 128, 256, 416, false};

// One quantised block of one activation row: a cache line, with the correction sums that the laws need beside the quants, so that
// a kernel reads one stream a row and takes every constant by a broadcasting load.
struct alignas(64) ActivationBlock {
  int8_t q[32];
  float scale;         // x is about q * scale
  float scaled_sum;    // scale * (sum of q)
  int32_t bias8;       // -8 * (sum of q): Q4_0
  int32_t bias16;      // -16 * (sum of q): Q5_0
  int32_t bias128;     // -128 * (sum of q): Q8_0 with unsigned bytes
  int32_t bias32[2];   // -32 * (sum over each 16 elements): Q6_K
  int32_t sum;         // sum of q
};
static_assert(sizeof(ActivationBlock) == 64);

// What one call of an instruction set's kernel computes: `groups` groups for up to kTileRows rows.
struct TileTask {
  const std::byte* weights;      // the first group
  size_t group_bytes;
  int64_t groups;
  int64_t cols;
  int last_lanes;                // lanes of the last group that are rows of the weight, 1..16
  const ActivationBlock* blocks; // [cols / 32][stride], the tile's first row (quantised weights)
  int64_t block_stride;          // ActivationBlocks from one block of a row to its next
  const float* x;                // the tile's first row of floats (float weights)
  int64_t x_stride;
  float* out;                    // out[row * out_stride + lane]
  int64_t out_stride;
};
inline constexpr int kTileRows = 16;

}  // namespace outrider::kernels
