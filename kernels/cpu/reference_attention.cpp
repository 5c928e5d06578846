#include "kernels/cpu/reference_attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/attention.hpp"
#include "kernels/cpu/math.hpp"
#include "kernels/cpu/reference_math.hpp"
#include "kernels/half.hpp"

namespace outrider::kernels::reference {
namespace {

float dot(const float* q, const KvView& keys, int64_t p, int kv_head) {
  const float* key = keys.at(p, kv_head);
  float total = 0.0f, sum = 0.0f;
  for (int d = 0; d < keys.head_dim; ++d) {
    sum = std::fma(q[d], key[d], sum);
    if (keys.scales != nullptr && (d % 32 == 31 || d + 1 == keys.head_dim)) {
      total = std::fma(sum, keys.scales_at(p, kv_head)[d / 32], total);
      sum = 0.0f;
    }
  }
  return keys.scales == nullptr ? sum : total;
}

}  // namespace

float quantize(float* block, int n) {
  float amax = 0.0f;
  bool bad = false;
  for (int i = 0; i < n; ++i) {
    bad = bad || !std::isfinite(block[i]);
    amax = std::max(amax, std::abs(block[i]));
  }
  float scale = f16_to_f32(f32_to_f16(amax / 127.0f));
  if (bad || !std::isfinite(scale)) scale = std::numeric_limits<float>::quiet_NaN();
  for (int i = 0; i < n; ++i) block[i] = scale > 0.0f ? std::nearbyint(block[i] * (127.0f / amax)) : 0.0f;
  return scale;
}

void attention(const float* q, const KvView& keys, const KvView& values, int kv_head, int64_t first, int64_t positions, float scale,
               float soft_cap, float* out) {
  const int head_dim = keys.head_dim;
  struct Chunk {
    float max, sum;
    std::vector<float> out;
  };
  std::vector<Chunk> chunks;
  for (int64_t chunk_begin = first / kAttentionChunk * kAttentionChunk; chunk_begin < positions; chunk_begin += kAttentionChunk) {
    const int64_t begin = std::max(chunk_begin, first), end = std::min<int64_t>(chunk_begin + kAttentionChunk, positions);
    std::vector<float> score;
    for (int64_t p = begin; p < end; ++p) {
      const float sum = dot(q, keys, p, kv_head);
      score.push_back(soft_cap > 0.0f ? reference::soft_cap(sum * scale, soft_cap) : sum * scale);
    }
    Chunk chunk{*std::max_element(score.begin(), score.end()), 0.0f, std::vector<float>(static_cast<size_t>(head_dim), 0.0f)};
    std::array<float, 16> lanes{};
    for (int64_t p = begin; p < end; ++p) {
      const float weight = exp_scalar(score[static_cast<size_t>(p - begin)] - chunk.max);
      lanes[static_cast<size_t>(p % 16)] += weight;
      for (int d = 0; d < head_dim; ++d) {
        float& sum = chunk.out[static_cast<size_t>(d)];
        const float share = values.scales == nullptr ? weight : weight * values.scales_at(p, kv_head)[d / 32];
        sum = std::fma(share, values.at(p, kv_head)[d], sum);
      }
    }
    chunk.sum = tree_sum(lanes);
    chunks.push_back(std::move(chunk));
  }

  float max = chunks[0].max;
  for (const Chunk& chunk : chunks) max = std::max(max, chunk.max);
  float length = 0.0f;
  std::fill_n(out, head_dim, 0.0f);
  for (const Chunk& chunk : chunks) {
    const float factor = exp_scalar(chunk.max - max);
    length = std::fma(factor, chunk.sum, length);
    for (int d = 0; d < head_dim; ++d) out[d] = std::fma(factor, chunk.out[static_cast<size_t>(d)], out[d]);
  }
  for (int d = 0; d < head_dim; ++d) out[d] /= length;
}

}  // namespace outrider::kernels::reference
