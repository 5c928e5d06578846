#include "kernels/cpu/matmul.hpp"

#include <algorithm>

#include "kernels/cpu/matmul_isa.hpp"
#include "kernels/cpu/packing.hpp"

namespace outrider::kernels {
namespace {

// With several tiles of rows, a chunk of weights is walked once a tile and should stay in L2 (1 to 2 MB on servers) beside the tile's
// activations (16 rows x K x 2 bytes). The larger the chunk, the more groups share one reading of the activations, which for a long K
// and many rows come from L3; reading the weights from L2 is cheap (320 bytes for 16 rows' work, some 40 ns).
constexpr size_t kChunkBytes = 512 * 1024;

auto tile_function(Isa isa) {
  switch (isa) {
    case Isa::avx2: return matmul_tile_avx2;
    case Isa::avx512: return matmul_tile_avx512;
    case Isa::avx512_vnni: return matmul_tile_avx512_vnni;
    case Isa::scalar: break;
  }
  return matmul_tile_scalar;
}

}  // namespace

void matmul(Isa isa, const PackedMatrix& weight, const Activations& activations, float* out, int64_t out_stride, int64_t group_begin,
            int64_t group_end) {
  if (activations.rows() == 0 || group_begin >= group_end) return;
  const auto run_tile = tile_function(isa);
  const bool quantised = !is_float_type(weight.type());
  const size_t group_bytes = packed_group_bytes(weight.type(), weight.cols());
  const int64_t tiles = activations.tiles();
  const int64_t fitting = std::max<int64_t>(1, static_cast<int64_t>(kChunkBytes / std::max<size_t>(group_bytes, 1)));
  const int64_t chunk = tiles == 1 ? group_end - group_begin : fitting;
  for (int64_t first = group_begin; first < group_end; first += chunk) {
    const int64_t groups = std::min(chunk, group_end - first);
    const int64_t lanes = std::min<int64_t>(kLanes, weight.rows() - (first + groups - 1) * kLanes);
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t row = activations.tile_begin(tile), rows = activations.tile_begin(tile + 1) - row;
      const TileTask task{
          .weights = weight.group(first),
          .group_bytes = group_bytes,
          .groups = groups,
          .cols = weight.cols(),
          .last_lanes = static_cast<int>(lanes),
          .blocks = quantised ? activations.tile_blocks(tile) : nullptr,
          .block_stride = rows,
          .x = activations.x() + row * activations.stride(),
          .x_stride = activations.stride(),
          .out = out + row * out_stride + first * kLanes,
          .out_stride = out_stride,
      };
      run_tile(weight.type(), static_cast<int>(rows), task);
    }
  }
}

}  // namespace outrider::kernels
