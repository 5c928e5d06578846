// Repacking GGUF rows into the layout of layout.hpp, block by block, and back. Lossless both ways. Internal to kernels/cpu.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/gguf_block.hpp"
#include "kernels/cpu/layout.hpp"

namespace outrider::kernels {

const BlockLayout& block_layout(TensorType type);                  // quantised types
size_t packed_group_bytes(TensorType type, int64_t cols);          // of 16 rows, a multiple of 64

// Packs up to 16 GGUF rows (row_bytes apart) into the group at `group`, every byte of it; absent rows become zero.
void pack_group(TensorType type, int64_t cols, const std::byte* rows, size_t row_bytes, int row_count, std::byte* group);

// Lane `lane`, block `index` of 32 of a packed quantised group.
QuantBlock unpack_block(TensorType type, const std::byte* group, int lane, int64_t index);

}  // namespace outrider::kernels
