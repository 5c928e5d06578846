#include "kernels/cpu/peak.hpp"

#include <algorithm>
#include <chrono>

#include "kernels/cpu/peak_loops.hpp"

namespace outrider::kernels {
namespace {

using Clock = std::chrono::steady_clock;

// Seconds from the moment all threads stand ready to the moment all are done: waking them is not counted.
template <class F>
double timed_run(ThreadPool& pool, F&& f) {
  Clock::time_point begin, end;
  pool.run([&](const Worker& worker) {
    worker.barrier();
    if (worker.index == 0) begin = Clock::now();
    f(worker);
    worker.barrier();
    if (worker.index == 0) end = Clock::now();
  });
  return std::max(std::chrono::duration<double>(end - begin).count(), 1e-9);
}

const PeakLoop& loop_of(Isa isa, MultiplyAdd kind) {
  if (isa == Isa::avx512_vnni && kind == MultiplyAdd::int8) return kPeakInt8Avx512Vnni;
  const PeakLoops& loops = isa == Isa::scalar ? kPeakScalar : isa == Isa::avx2 ? kPeakAvx2 : kPeakAvx512;
  return kind == MultiplyAdd::int8 ? loops.int8 : loops.f32;
}

constexpr size_t kStride = 16;  // words in two cache lines: what one turn of the reading loop takes

}  // namespace

ReadBandwidth::ReadBandwidth(ThreadPool& pool, size_t bytes) : pool_(pool), data_(std::max<size_t>(bytes / sizeof(uint64_t), kStride)) {
  pool_.run([&](const Worker& worker) {
    const auto [begin, end] = worker.share(static_cast<int64_t>(data_.size() / kStride));
    std::fill(data_.data() + begin * kStride, data_.data() + end * kStride, uint64_t{1});
  });
}

// Plain additions of words, which every compiler makes vectors of: reading from memory leaves the processor time for far more.
double ReadBandwidth::measure() {
  const auto strides = static_cast<int64_t>(data_.size() / kStride);
  const double seconds = timed_run(pool_, [&](const Worker& worker) {
    const auto [begin, end] = worker.share(strides);
    uint64_t lanes[kStride] = {};
    for (const uint64_t* p = data_.data() + begin * kStride; p != data_.data() + end * kStride; p += kStride) {
      __builtin_prefetch(p + 256);  // 2 KB: latency times bandwidth of a core, doubled; past the end it is ignored
      __builtin_prefetch(p + 264);
      for (size_t j = 0; j < kStride; ++j) lanes[j] += p[j];
    }
    for (uint64_t& lane : lanes) asm volatile("" : "+r"(lane));
  });
  return static_cast<double>(strides) * kStride * sizeof(uint64_t) / seconds;
}

double multiply_add_rate(Isa isa, ThreadPool& pool, MultiplyAdd kind) {
  constexpr double kSample = 0.01;  // seconds
  const PeakLoop& loop = loop_of(isa, kind);
  const auto seconds_of = [&](int64_t steps) { return timed_run(pool, [&](const Worker&) { loop.run(steps); }); };
  int64_t steps = 1024;
  while (seconds_of(steps) < kSample / 8) steps *= 4;
  steps *= 8;
  return static_cast<double>(steps) * static_cast<double>(loop.per_step) * pool.size() / seconds_of(steps);
}

}  // namespace outrider::kernels
