#include "kernels/cpu/peak.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace outrider::kernels;

namespace {

// The best of a few samples: the machine does other things too.
template <class F>
double best(F&& sample) {
  double most = 0;
  for (int i = 0; i < 5; ++i) most = std::max(most, sample());
  return most;
}

}  // namespace

TEST_CASE("vectors of bytes make more multiply-adds a second than vectors of floats, and those more than plain loops") {
  ThreadPool pool(1);
  const double scalar = best([&] { return multiply_add_rate(Isa::scalar, pool, MultiplyAdd::f32); });
  CHECK(scalar > 1e6);
  for (const Isa isa : available_isas()) {
    if (isa == Isa::scalar) continue;
    CAPTURE(isa_name(isa));
    const double f32 = best([&] { return multiply_add_rate(isa, pool, MultiplyAdd::f32); });
    const double int8 = best([&] { return multiply_add_rate(isa, pool, MultiplyAdd::int8); });
    CHECK(f32 > scalar);
    CHECK(int8 > f32);
    CHECK(int8 < 1e13);  // 64 products, 4 times a cycle, at 30 GHz: nothing was optimised away
  }
}

TEST_CASE("memory of any size is read, with any number of threads") {
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    for (const size_t bytes : {size_t{1}, size_t{1000}, size_t{32} << 20}) {
      ReadBandwidth memory(pool, bytes);
      const double rate = best([&] { return memory.measure(); });
      CAPTURE(threads, bytes, rate);
      CHECK(rate > 0);
      CHECK(rate < 1e13);
    }
  }
}
