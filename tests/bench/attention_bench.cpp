// What attention costs on one thread: rows of one sequence (a decoded token and its drafts) at a short and a long context, over
// several layers in turn, so that keys and values come from beyond the core's caches as they do in a forward pass. Beside it, in the
// same run, the speed of just reading that memory. Takes about 4 seconds.
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

void measure(const Model& model, int32_t context, double budget) {
  const int32_t pages = context / kPagePositions + 2;
  KvLayer layer{nullptr, KvType::f16, model.kv_heads, model.head_dim};
  const size_t layer_bytes = static_cast<size_t>(pages) * layer.page_bytes();
  AlignedBuffer<std::byte> data(layer_bytes * static_cast<size_t>(model.layers));
  for (size_t i = 0; i < data.size() / 2; ++i) {  // halves between 1 and 2, either sign
    const auto half = static_cast<uint16_t>((i * 2654435761u >> 7 & 0x83ffu) | 0x3c00u);
    std::memcpy(data.data() + 2 * i, &half, sizeof half);
  }
  std::vector<int32_t> table(static_cast<size_t>(pages));
  std::iota(table.begin(), table.end(), 0);
  std::shuffle(table.begin(), table.end(), std::mt19937(1));

  constexpr int kPieces = 32;
  const size_t piece = data.size() / kPieces / 64 * 64;
  const double read = least_time(kPieces, budget, [&](int part) {
    uint64_t sum = 0, words[8];
    const std::byte* begin = data.data() + piece * static_cast<size_t>(part);
    for (size_t i = 0; i < piece; i += sizeof words) {
      std::memcpy(words, begin + i, sizeof words);
      for (uint64_t word : words) sum += word;
    }
    volatile uint64_t keep = sum;
    (void)keep;
  });
  std::printf("%s, context %d: %.1f MB of keys and values, a plain read takes %.2f ms (%.1f GB/s)\n", model.name, context,
              static_cast<double>(data.size()) * 1e-6, read * 1e3, static_cast<double>(data.size()) / read * 1e-9);

  const size_t query = static_cast<size_t>(model.heads) * static_cast<size_t>(model.head_dim);
  const AttentionShape shape{model.heads, 0.125f};
  for (Isa isa : available_isas()) {
    if (isa == Isa::scalar || isa == Isa::avx512_vnni) continue;
    double alone = 0.0;
    for (int m : {1, 4, 8, 16}) {
      std::vector<float> q(query * static_cast<size_t>(m), 0.01f), out(q.size());
      std::vector<AttentionRow> rows;
      for (int r = 0; r < m; ++r) {
        const size_t at = query * static_cast<size_t>(r);
        rows.push_back({q.data() + at, table.data(), context - m + r + 1, nullptr, 0});
      }
      AttentionScratch scratch;
      attention_prepare(scratch, layer, shape, rows, 1);
      const int items = static_cast<int>(attention_items(layer, rows)), parts = items + 1;  // of a layer: its items, then the combination
      const double time = least_time(model.layers * parts, budget, [&](int part) {
        layer.data = data.data() + layer_bytes * static_cast<size_t>(part / parts);
        const int item = part % parts;
        if (item < items)
          attention_partial(isa, layer, shape, rows, scratch, 0, item, item + 1);
        else
          attention_combine(isa, layer, shape, rows, scratch, 0, m, out.data(), static_cast<int64_t>(query));
      });
      if (m == 1) alone = time;
      const double flops = 4.0 * static_cast<double>(query) * context * m * model.layers;
      std::printf("  %-8s %2d rows: %8.3f ms, %8.3f ms a row, %5.2f times one row; keys and values at %5.1f GB/s, %6.1f GFLOP/s\n",
                  isa_name(isa).data(), m, time * 1e3, time * 1e3 / m, time / alone, static_cast<double>(data.size()) / time * 1e-9,
                  flops / time * 1e-9);
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
