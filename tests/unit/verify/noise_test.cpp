#include "verify/noise.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace outrider::verify;

TEST_CASE("gumbel noise is -log(-log(u)) of the bits' centre") {
  for (const uint32_t bits : {0U, 1U, 1000U, 0x40000000U, 0x80000000U, 0xC0000000U, 0xFFFFFF00U, 0xFFFFFFFEU, 0xFFFFFFFFU}) {
    const long double u = (static_cast<long double>(bits) + 0.5L) / 4294967296.0L;
    const auto expected = static_cast<double>(-std::log(-std::log(u)));
    CAPTURE(bits);
    CHECK(gumbel(bits) == Approx(expected).epsilon(1e-6));
  }
  CHECK(gumbel(0) > -3.2);
  CHECK(gumbel(0xFFFFFFFFU) < 23.0);
}

TEST_CASE("gumbel noise grows with the bits") {
  double last = gumbel(0);
  for (uint64_t bits = 1 << 20; bits < (1ULL << 32); bits += 1 << 20) {
    const double next = gumbel(static_cast<uint32_t>(bits));
    REQUIRE(next > last);
    last = next;
  }
}

TEST_CASE("noise that may not reach a level is below it") {
  const NoiseStream noise(7, 11);
  int refused = 0;
  for (int32_t token = 0; token < 200000; ++token) {
    const uint32_t bits = noise.bits(token);
    for (const double level : {-5.0, -1.0, 0.0, 0.5, 1.0, 2.5, 6.0, 11.0, 22.0, 22.9, 30.0, static_cast<double>(INFINITY)}) {
      if (!may_reach(bits, level)) {
        ++refused;
        REQUIRE(gumbel(bits) < level);
      }
    }
  }
  CHECK(refused > 1000000);  // it does refuse: about 1 - exp(-level) of them
  CHECK(may_reach(0xFFFFFFFFU, 22.8));
}

TEST_CASE("noise is a function of seed, position and token, and differs with each") {
  CHECK(NoiseStream(1, 2).bits(3) == NoiseStream(1, 2).bits(3));
  std::set<uint32_t> distinct;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (int64_t position = 0; position < 10; ++position) {
      for (int32_t token = 0; token < 10; ++token) distinct.insert(NoiseStream(seed, position).bits(token));
    }
  }
  CHECK(distinct.size() == 1000);
}

TEST_CASE("noise has the mean and variance of a standard Gumbel law") {
  const NoiseStream noise(42, 0);
  const int n = 1000000;
  double sum = 0, squares = 0;
  for (int32_t token = 0; token < n; ++token) {
    const double g = gumbel(noise.bits(token));
    sum += g, squares += g * g;
  }
  const double mean = sum / n, variance = squares / n - mean * mean;
  CHECK(mean == Approx(0.5772156649).margin(0.008));           // 6 standard errors
  CHECK(variance == Approx(1.6449340668).margin(0.025));
}

TEST_CASE("a derived seed keeps the first completion's seed and differs for the others") {
  CHECK(derived_seed(5, 0) == 5);
  CHECK(derived_seed(5, 1) != derived_seed(5, 2));
  CHECK(derived_seed(5, 1) != derived_seed(6, 1));
}
