// Loading a model, the file in the page cache: seconds for each GB of the file (the quickest and the median of some rounds; of the
// processors the least, which other programs disturb less), the most memory held, and a hash over the repacked matrices, which no speed-up
// may change. `load_bench MODEL.gguf [rounds [threads [repack cache]]]`.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "formats/gguf.hpp"
#include "model/architecture.hpp"

namespace {

using namespace outrider;
using Clock = std::chrono::steady_clock;

uint64_t hash_of(const model::Weights& weights) {
  uint64_t hash = 0;
  const auto add = [&](const kernels::PackedMatrix& matrix) {
    for (size_t at = 0; at < matrix.bytes(); at += 8) {  // groups are whole cache lines
      uint64_t word;
      std::memcpy(&word, matrix.group(0) + at, 8);
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
  };
  add(weights.embedding);
  add(weights.head_storage);
  for (const model::Layer& layer : weights.layers)
    for (const kernels::PackedMatrix* matrix : {&layer.q, &layer.k, &layer.v, &layer.output, &layer.gate, &layer.up, &layer.down}) add(*matrix);
  return hash;
}

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: load_bench MODEL.gguf [rounds [threads [repack cache]]]\n");
    return 2;
  }
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5, threads = argc > 3 ? std::atoi(argv[3]) : 2;
  const std::filesystem::path repack_cache = argc > 4 ? argv[4] : "";
  kernels::ThreadPool pool(threads);
  std::vector<double> seconds;
  uint64_t hash = 0;
  double gigabytes = 0, least_processor = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const double processor_begin = processor_seconds();
    const auto begin = Clock::now();
    auto file = formats::GgufFile::open(argv[1]);
    auto architecture = file.ok() ? model::read_architecture(*file) : Result<model::Architecture>(file.error());
    auto weights = architecture.ok() ? model::load_weights(*file, *architecture, pool, repack_cache) : Result<model::Weights>(architecture.error());
    if (!weights.ok()) {
      std::fprintf(stderr, "%s\n", weights.error().message.c_str());
      return 1;
    }
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    least_processor = std::min(least_processor, processor_seconds() - processor_begin);
    gigabytes = static_cast<double>(file->file_bytes()) / 1e9;
    if (round + 1 == rounds) hash = hash_of(*weights);
  }
  std::sort(seconds.begin(), seconds.end());
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("%.3f GB: quickest %.3f s/GB, median %.3f s/GB, of the processors %.3f s/GB, peak memory %.3f times the file, hash %016lx\n", gigabytes,
              seconds.front() / gigabytes, seconds[seconds.size() / 2] / gigabytes, least_processor / gigabytes,
              static_cast<double>(usage.ru_maxrss) * 1024 / 1e9 / gigabytes, hash);
  return 0;
}
