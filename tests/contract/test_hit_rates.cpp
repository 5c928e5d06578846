#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "ngram/hit_rates.hpp"

using ngram::HitRates;

TEST_CASE("before anything is known a longer match is the more promising") {
  const HitRates rates;
  for (const auto& [shorter, longer] : {std::pair{1U, 2U}, {2U, 3U}, {3U, 4U}, {4U, 5U}, {5U, 6U}, {8U, 9U}, {15U, 16U}}) {
    CHECK(rates.rate(shorter) < rates.rate(longer));
  }
  CHECK(rates.rate(32) < 1.0F);
}

TEST_CASE("the rate of a length approaches what is observed at that length alone") {
  HitRates rates;
  const float other = rates.rate(9);
  for (int i = 0; i < 200; ++i) rates.record(3, i % 4 == 0);
  CHECK(rates.rate(3) == Approx(0.25).margin(0.05));
  CHECK(rates.rate(9) == other);
}

TEST_CASE("old rounds fade") {
  HitRates rates;
  for (int i = 0; i < 400; ++i) rates.record(3, false);
  for (int i = 0; i < 150; ++i) rates.record(3, true);
  CHECK(rates.rate(3) > 0.7F);
}

TEST_CASE("counts that no counting could have made are not restored") {
  HitRates rates;
  for (int i = 0; i < 1000; ++i) rates.record(2, true);
  HitRates copy;
  CHECK(copy.restore(rates.hits(), rates.trials()));
  CHECK(copy.rate(2) == rates.rate(2));
  auto hits = rates.hits(), trials = rates.trials();
  for (const float bad : {-1.0F, std::nanf(""), std::numeric_limits<float>::infinity(), 1e9F}) {
    auto changed = hits;
    changed[1] = bad;
    CHECK_FALSE(copy.restore(changed, trials));
  }
  trials[1] = 1e9F;
  CHECK_FALSE(copy.restore(hits, trials));
}
