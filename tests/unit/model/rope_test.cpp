#include "model/rope.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace outrider;

namespace {

std::vector<double> frequencies(const model::RopeScaling& scaling = {}) { return model::rope_frequencies(16, 10000, scaling); }

}  // namespace

TEST_CASE("frequencies fall from 1 by the base's power") {
  const auto f = frequencies();
  REQUIRE(f.size() == 8);
  CHECK(f[0] == 1.0);
  for (size_t i = 0; i < f.size(); ++i) CHECK(f[i] == Approx(std::pow(10000.0, -2.0 * static_cast<double>(i) / 16)));
}

TEST_CASE("linear scaling divides every frequency, divisors divide each by its own") {
  model::RopeScaling scaling;
  scaling.kind = model::RopeScaling::Kind::linear;
  scaling.factor = 4;
  const auto plain = frequencies();
  const auto linear = frequencies(scaling);
  for (size_t i = 0; i < plain.size(); ++i) CHECK(linear[i] == Approx(plain[i] / 4));
  scaling = {};
  scaling.divisors = {1, 1, 1, 2, 4, 8, 8, 8};
  const auto divided = frequencies(scaling);
  for (size_t i = 0; i < plain.size(); ++i) CHECK(divided[i] == Approx(plain[i] / static_cast<double>(scaling.divisors[i])));
}

TEST_CASE("YaRN leaves fast pairs alone and interpolates slow ones") {
  const model::RopeScaling scaling{model::RopeScaling::Kind::yarn, 4.0F, 1.0F, 512, 32.0F, 1.0F, {}};
  const auto plain = frequencies();
  const auto yarn = frequencies(scaling);
  CHECK(yarn.front() == Approx(plain.front()));
  CHECK(yarn.back() == Approx(plain.back() / 4));
  for (size_t i = 0; i < plain.size(); ++i) {
    CHECK(yarn[i] <= plain[i] * 1.0000001);
    CHECK(yarn[i] >= plain[i] / 4.0000001);
  }
}

TEST_CASE("the table holds each position's cosines and sines and keeps them as it grows") {
  model::RopeTable table(16, 10000, {});
  table.grow(3);
  const float cosine = table.row(2)[1], sine = table.row(2)[8 + 1];
  CHECK(cosine == Approx(std::cos(2 * std::pow(10000.0, -2.0 / 16))));
  CHECK(sine == Approx(std::sin(2 * std::pow(10000.0, -2.0 / 16))));
  table.grow(1000);
  CHECK(table.row(2)[1] == cosine);
  CHECK(table.row(999)[0] == Approx(std::cos(999.0)).margin(1e-6));
}
