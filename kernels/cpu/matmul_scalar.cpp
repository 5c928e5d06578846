// matmul in plain loops over the packed layout, for processors without AVX2: right, not fast.
#include <cmath>
#include <cstring>

#include "kernels/cpu/matmul_isa.hpp"
#include "kernels/cpu/packing.hpp"
#include "kernels/half.hpp"

namespace outrider::kernels {
namespace {

int dot(const uint8_t* n, const int8_t* q, int count, int offset) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += (n[i] - offset) * q[i];
  return sum;
}

float accumulate(TensorType type, const QuantBlock& w, const ActivationBlock& a, float acc) {
  const float d = f16_to_f32(w.d), m = f16_to_f32(w.m);
  const auto add = [&](int sum, float factor) {
    const float scale = factor * a.scale;
    acc = std::fma(static_cast<float>(sum), scale, acc);
  };
  switch (type) {
    case TensorType::q4_0: add(dot(w.n, a.q, 32, 8), d); break;
    case TensorType::q5_0: add(dot(w.n, a.q, 32, 16), d); break;
    case TensorType::q8_0: {
      int sum = 0;
      for (int i = 0; i < 32; ++i) sum += static_cast<int8_t>(w.n[i]) * a.q[i];
      add(sum, d);
      break;
    }
    case TensorType::q4_k:
    case TensorType::q5_k:
      add(dot(w.n, a.q, 32, 0), d * static_cast<float>(w.sc));
      acc = std::fma(-(m * static_cast<float>(w.mn)), a.scaled_sum, acc);
      break;
    case TensorType::q6_k:
      add(static_cast<int8_t>(w.sc) * dot(w.n, a.q, 16, 32) + static_cast<int8_t>(w.mn) * dot(w.n + 16, a.q + 16, 16, 32), d);
      break;
    default:  // Q4_1, Q5_1
      add(dot(w.n, a.q, 32, 0), d);
      acc = std::fma(m, a.scaled_sum, acc);
  }
  return acc;
}

float float_element(TensorType type, const std::byte* p) {
  if (type == TensorType::f32) {
    float value;
    std::memcpy(&value, p, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, p, 2);
  return type == TensorType::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
}

}  // namespace

void matmul_tile_scalar(TensorType type, int rows, const TileTask& task) {
  for (int64_t g = 0; g < task.groups; ++g) {
    const std::byte* group = task.weights + static_cast<size_t>(g) * task.group_bytes;
    const int lanes = g + 1 == task.groups ? task.last_lanes : 16;
    for (int lane = 0; lane < lanes; ++lane) {
      float acc[kTileRows] = {};
      if (is_float_type(type)) {
        const int size = type == TensorType::f32 ? 4 : 2;
        for (int64_t k = 0; k < task.cols; ++k) {
          const float w = float_element(type, group + (k * 16 + lane) * size);
          for (int r = 0; r < rows; ++r) acc[r] = std::fma(w, task.x[r * task.x_stride + k], acc[r]);
        }
      } else {
        for (int64_t b = 0; b < task.cols / 32; ++b) {
          const QuantBlock w = unpack_block(type, group, lane, b);
          for (int r = 0; r < rows; ++r) acc[r] = accumulate(type, w, task.blocks[b * task.block_stride + r], acc[r]);
        }
      }
      for (int r = 0; r < rows; ++r) task.out[r * task.out_stride + g * 16 + lane] = acc[r];
    }
  }
}

}  // namespace outrider::kernels
