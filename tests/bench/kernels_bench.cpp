// Matrix products per weight type and instruction set, side by side in one run: the weight bytes read a second at M = 1, and
// t(M) = time of M rows over time of one. `kernels_bench [threads [type|all [rows [cols]]]]`; the weight must be larger than the caches
// for the first figure to mean memory. Read bandwidth is measured beside each line, with the same threads.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "kernels/cpu/matmul.hpp"
#include "kernels/cpu/peak.hpp"

namespace {

using namespace outrider::kernels;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// The quickest of some 30 ms of repeats, at least three: other programs share these machines and can only add time.
template <class F>
double best_seconds(F&& f) {
  double best = 1e9, total = 0;
  for (int i = 0; i < 3 || total < 0.03; ++i) {
    const auto begin = Clock::now();
    f();
    const double seconds = seconds_since(begin);
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

double read_bandwidth(ReadBandwidth& memory) {
  double best = 0;
  for (int i = 0; i < 3; ++i) best = std::max(best, memory.measure());
  return best;
}

// Random bytes with the top of each 16 bits cleared, so that halves, bfloats and floats are small normal numbers.
std::vector<std::byte> random_weight(TensorType type, int64_t elements) {
  const TypeTraits& traits = type_traits(type);
  std::vector<std::byte> bytes(static_cast<size_t>(elements) / traits.block_elements * traits.block_bytes);
  std::mt19937 random(1);
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    const uint32_t word = (static_cast<uint32_t>(random()) & 0x0fff0fffu) | 0x20002000u;
    std::memcpy(bytes.data() + i, &word, 4);
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  const std::string_view only = argc > 2 ? argv[2] : "all";
  const int64_t rows = argc > 3 ? std::atoll(argv[3]) : 49152, cols = argc > 4 ? std::atoll(argv[4]) : 768;
  constexpr TensorType kAll[] = {TensorType::q4_1, TensorType::q8_0, TensorType::q4_k, TensorType::q6_k, TensorType::q4_0, TensorType::q5_0,
                                 TensorType::q5_1, TensorType::q5_k, TensorType::f16,  TensorType::bf16, TensorType::f32};
  constexpr int64_t kRows[] = {1, 2, 4, 8, 16, 32};
  ThreadPool pool(threads);
  ReadBandwidth memory(pool, size_t{256} << 20);
  std::printf("%d threads, weight %ld x %ld, read bandwidth %.1f GB/s\n", threads, static_cast<long>(rows), static_cast<long>(cols),
              read_bandwidth(memory) / 1e9);
  std::printf("type  isa            MB    GB/s share  t(2)  t(4)  t(8) t(16) t(32)   GOP/s at 32\n");

  std::vector<float> x(static_cast<size_t>(32 * cols)), out(static_cast<size_t>(32 * rows));
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  for (float& value : x) value = normal(random);
  for (const TensorType type : kAll) {
    if ((only != "all" && only != type_traits(type).name) || cols % type_traits(type).block_elements != 0) continue;
    const std::vector<std::byte> source = random_weight(type, rows * cols);
    const PackedMatrix weight = PackedMatrix::pack(type, rows, cols, source, &pool);
    for (const Isa isa : available_isas()) {
      if (isa == Isa::scalar) continue;
      double seconds[std::size(kRows)];
      for (size_t i = 0; i < std::size(kRows); ++i) {
        Activations activations;
        activations.assign(x.data(), kRows[i], cols, cols);
        activations.quantize(isa, 0, kRows[i]);
        seconds[i] = best_seconds([&] {
          pool.run([&](const Worker& worker) {
            const auto [begin, end] = worker.share(weight.groups());
            matmul(isa, weight, activations, out.data(), rows, begin, end);
          });
        });
      }
      const double bandwidth = static_cast<double>(weight.bytes()) / seconds[0];
      std::printf("%-5s %-12s %5.0f  %6.1f %4.0f%%", type_traits(type).name.data(), isa_name(isa).data(),
                  static_cast<double>(weight.bytes()) / 1e6, bandwidth / 1e9, 100 * bandwidth / read_bandwidth(memory));
      for (size_t i = 1; i < std::size(kRows); ++i) std::printf(" %5.2f", seconds[i] / seconds[0]);
      std::printf("   %6.0f\n", 64.0 * static_cast<double>(rows * cols) / seconds[std::size(kRows) - 1] / 1e9);
    }
  }
}
