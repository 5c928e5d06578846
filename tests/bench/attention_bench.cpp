// What attention costs on one thread: rows of one sequence (a decoded token and its drafts) at a short and a long context, over
// several layers in turn, so that keys and values come from beyond the core's caches as they do in a forward pass, for F16 and Q8_0 caches.
// Beside it, in the same run, the speed of just reading that memory. Takes about 10 seconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/cpu/attention.hpp"

using namespace outrider::kernels;

namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The sum over `parts` of f(part)'s least time in seconds, of as many rounds as fit in `budget` seconds (at least 3): a part is short,
// so that some round of it ran undisturbed even on a busy machine.
template <class F>
double least_time(int parts, double budget, F f) {
  std::vector<double> least(static_cast<size_t>(parts), 1e9);
  int rounds = 0;
  for (const double end = seconds() + budget; rounds < 3 || seconds() < end; ++rounds)
    for (int part = 0; part < parts; ++part) {
      const double begin = seconds();
      f(part);
      double& time = least[static_cast<size_t>(part)];
      time = std::min(time, seconds() - begin);
    }
  return std::accumulate(least.begin(), least.end(), 0.0);
}

struct Model {
  const char* name;
  int layers, heads, kv_heads, head_dim;
};

// The cache of all layers in one type, filled with one context.
struct Cache {
  Cache(const Model& model, KvType type, int32_t context, const std::vector<int32_t>& table)
      : shape{nullptr, type, model.kv_heads, model.head_dim},
        layer_bytes(table.size() * shape.page_bytes()),
        data(layer_bytes * static_cast<size_t>(model.layers)) {
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    std::vector<float> floats(static_cast<size_t>(model.kv_heads) * static_cast<size_t>(model.head_dim) + 4096);
    for (float& x : floats) x = normal(random);
    for (int l = 0; l < model.layers; ++l)
      for (int32_t p = 0; p < context; ++p) {
        const float* k = floats.data() + (p * 31 + l * 7) % 4096;
        kv_store(best_isa(), layer(l), table.data(), p, k, floats.data() + (p * 57 + l) % 4096);
      }
  }
  [[nodiscard]] KvLayer layer(int index) {
    KvLayer out = shape;
    out.data = data.data() + layer_bytes * static_cast<size_t>(index);
    return out;
  }
  KvLayer shape;
  size_t layer_bytes;
  AlignedBuffer<std::byte> data;
};

double read_time(const AlignedBuffer<std::byte>& data, double budget) {
  constexpr int kPieces = 32;
  const size_t piece = data.size() / kPieces / 64 * 64;
  return least_time(kPieces, budget, [&](int part) {
    uint64_t sum = 0, words[8];
    const std::byte* begin = data.data() + piece * static_cast<size_t>(part);
    for (size_t i = 0; i < piece; i += sizeof words) {
      std::memcpy(words, begin + i, sizeof words);
      for (uint64_t word : words) sum += word;
    }
    volatile uint64_t keep = sum;
    (void)keep;
  });
}

double attention_time(const Model& model, Isa isa, Cache& cache, const std::vector<int32_t>& table, int32_t context, int m, double budget) {
  const size_t query = static_cast<size_t>(model.heads) * static_cast<size_t>(model.head_dim);
  const AttentionShape shape{model.heads, 0.125f};
  std::vector<float> q(query * static_cast<size_t>(m), 0.01f), out(q.size());
  std::vector<AttentionRow> rows;
  for (int r = 0; r < m; ++r) rows.push_back({q.data() + query * static_cast<size_t>(r), table.data(), context - m + r + 1, nullptr, 0});
  AttentionScratch scratch;
  attention_prepare(scratch, cache.shape, shape, rows, 1);
  const int items = static_cast<int>(attention_items(cache.shape, rows)), parts = items + 1;  // of a layer: its items, then the combination
  return least_time(model.layers * parts, budget, [&](int part) {
    const KvLayer layer = cache.layer(part / parts);
    const int item = part % parts;
    if (item < items)
      attention_partial(isa, layer, shape, rows, scratch, 0, item, item + 1);
    else
      attention_combine(isa, layer, shape, rows, scratch, 0, m, out.data(), static_cast<int64_t>(query));
  });
}

void measure(const Model& model, int32_t context, double budget) {
  std::vector<int32_t> table(static_cast<size_t>(context / kPagePositions + 2));
  std::iota(table.begin(), table.end(), 0);
  std::shuffle(table.begin(), table.end(), std::mt19937(1));
  Cache f16(model, KvType::f16, context, table), q8_0(model, KvType::q8_0, context, table);
  for (const Cache* cache : {&f16, &q8_0}) {
    const double read = read_time(cache->data, budget), bytes = static_cast<double>(cache->data.size());
    std::printf("%s, context %d: %.1f MB of keys and values in %s, a plain read takes %.2f ms (%.1f GB/s)\n", model.name, context,
                bytes * 1e-6, kv_type_name(cache->shape.type).data(), read * 1e3, bytes / read * 1e-9);
  }
  for (Isa isa : available_isas()) {
    if (isa == Isa::scalar || isa == Isa::avx512_vnni) continue;
    double alone[2] = {}, time[2] = {};
    for (int m : {1, 4, 8, 16})
      for (Cache* cache : {&f16, &q8_0}) {
        const size_t type = cache == &q8_0;
        time[type] = attention_time(model, isa, *cache, table, context, m, budget);
        if (m == 1) alone[type] = time[type];
        const double flops = 4.0 * model.heads * model.head_dim * context * m * model.layers;
        std::printf("  %-8s %-4s %2d rows: %8.3f ms, %8.3f ms a row, %5.2f times one row; keys and values at %5.1f GB/s, %6.1f GFLOP/s",
                    isa_name(isa).data(), kv_type_name(cache->shape.type).data(), m, time[type] * 1e3, time[type] * 1e3 / m,
                    time[type] / alone[type], static_cast<double>(cache->data.size()) / time[type] * 1e-9, flops / time[type] * 1e-9);
        if (type == 1) std::printf("; %.2f of F16's time", time[1] / time[0]);
        std::printf("\n");
      }
  }
}

}  // namespace

int main() {
  const Model small{"9/3 heads of 64, 8 layers", 8, 9, 3, 64}, large{"12/2 heads of 128, 4 layers", 4, 12, 2, 128};
  measure(small, 512, 0.06);
  measure(small, 8192, 0.12);
  measure(large, 8192, 0.12);
  return 0;
}
