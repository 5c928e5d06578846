// The specification of attention.hpp's numeric law: plain loops over one query vector, with keys and values given as floats
// in the order of their positions, no pages and no blocks. Tests compare every instruction set with it, bit for bit.
#pragma once

#include <cstdint>

namespace outrider::kernels::reference {

// Keys or values of one sequence as floats (already rounded to the cache's type), [positions][kv_heads][head_dim]. With `scales`,
// [positions][kv_heads][blocks of 32 features], they are the quants of Q8_0, yet to be multiplied by their block's.
struct KvView {
  const float* data;
  int kv_heads;
  int head_dim;
  const float* scales = nullptr;
  [[nodiscard]] const float* at(int64_t position, int kv_head) const { return data + (position * kv_heads + kv_head) * head_dim; }
  [[nodiscard]] const float* scales_at(int64_t position, int kv_head) const {
    return scales + (position * kv_heads + kv_head) * ((head_dim + 31) / 32);
  }
};

// Quantises one block of n floats to Q8_0: n integers, in place, and their scale, which is returned.
float quantize(float* block, int n);

// Attention of one query head q[head_dim] over positions [first, positions), at least one, into out[head_dim]. soft_cap 0: none.
void attention(const float* q, const KvView& keys, const KvView& values, int kv_head, int64_t first, int64_t positions, float scale,
               float soft_cap, float* out);

}  // namespace outrider::kernels::reference
