#include "kernels/cpu/math.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/reference_math.hpp"

using namespace outrider::kernels;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_floats(int64_t n, uint32_t seed, float spread = 3.0f) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  std::vector<float> out(static_cast<size_t>(n));
  for (float& x : out) x = normal(engine);
  return out;
}

uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// Equal to the bit, any NaN being equal to any other.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (bits_of(a[i]) != bits_of(b[i]) && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  return true;
}

std::vector<int64_t> lengths() {
  std::vector<int64_t> out;
  for (int64_t n = 1; n <= 100; ++n) out.push_back(n);
  for (int64_t n : {576, 1023, 1024, 1025, 1536, 49159}) out.push_back(n);
  return out;
}

// Checks f for every instruction set and length.
template <class F>
void each_isa_and_length(F f) {
  for (Isa isa : available_isas())
    for (int64_t n : lengths()) {
      INFO(isa_name(isa) << ", n = " << n);
      f(isa, n);
    }
}

}  // namespace

TEST_CASE("exp is within 2 units in the last place over its whole range, and exactly 1 at 0") {
  double worst = 0.0;
  for (double x = -87.3; x <= 88.7; x += 1.0 / 4096) {
    const float argument = static_cast<float>(x);
    if (argument < -87.3f || argument > 88.7f) continue;
    const double exact = std::exp(static_cast<double>(argument));
    const float nearest = static_cast<float>(exact);
    const double unit = static_cast<double>(std::nextafter(nearest, kInfinity)) - static_cast<double>(nearest);
    worst = std::max(worst, std::abs(static_cast<double>(exp_scalar(argument)) - exact) / unit);
  }
  INFO("largest error " << worst << " units");
  CHECK(worst <= 1.0);
  CHECK(bits_of(exp_scalar(0.0f)) == bits_of(1.0f));
  CHECK(bits_of(exp_scalar(-0.0f)) == bits_of(1.0f));
  CHECK(exp_scalar(-88.0f) == 0.0f);
  CHECK(exp_scalar(-kInfinity) == 0.0f);
  CHECK(exp_scalar(89.0f) == kInfinity);
  CHECK(exp_scalar(kInfinity) == kInfinity);
  CHECK(std::isnan(exp_scalar(kNan)));
}

TEST_CASE("every instruction set computes the exp that exp_scalar does") {
  std::vector<float> x = {0.0f, -0.0f, 1.0f, -87.3f, -87.30001f, 88.7f, 88.70001f, 1e-40f, -1e30f, 1e30f, kInfinity, -kInfinity, kNan};
  for (float value : random_floats(2000, 1, 40.0f)) x.push_back(value);
  for (Isa isa : available_isas())
    for (float value : x) {
      INFO(isa_name(isa) << ", x = " << value);
      CHECK(same({sum_exp(isa, &value, 1, 0.0f, 1.0f)}, {exp_scalar(value - 0.0f)}));
    }
}

TEST_CASE("rms_norm equals its specification to the bit, also in place") {
  each_isa_and_length([](Isa isa, int64_t n) {
    const auto x = random_floats(n, 2), weight = random_floats(n, 3);
    std::vector<float> expected(x.size()), out(x.size()), in_place = x;
    reference::rms_norm(x.data(), weight.data(), n, 1e-5f, expected.data());
    rms_norm(isa, x.data(), weight.data(), n, 1e-5f, out.data());
    rms_norm(isa, in_place.data(), weight.data(), n, 1e-5f, in_place.data());
    CHECK(same(out, expected));
    CHECK(same(in_place, expected));
  });
}

TEST_CASE("rms_norm divides by the root of the mean square") {
  const std::vector<float> x = {3.0f, -4.0f, 0.0f, 5.0f}, weight = {1.0f, 1.0f, 1.0f, 2.0f};
  std::vector<float> out(4);
  rms_norm(best_isa(), x.data(), weight.data(), 4, 0.0f, out.data());
  CHECK(out[0] == Approx(3.0 / std::sqrt(12.5)));
  CHECK(out[1] == Approx(-4.0 / std::sqrt(12.5)));
  CHECK(out[3] == Approx(10.0 / std::sqrt(12.5)));
}

TEST_CASE("add equals the plain sum to the bit and writes nothing past the end") {
  each_isa_and_length([](Isa isa, int64_t n) {
    auto x = random_floats(n + 1, 4);
    const auto y = random_floats(n + 1, 5);
    auto expected = x;
    for (int64_t i = 0; i < n; ++i) expected[static_cast<size_t>(i)] += y[static_cast<size_t>(i)];
    add(isa, x.data(), y.data(), n);
    CHECK(same(x, expected));
  });
}

TEST_CASE("silu_multiply and gelu_multiply equal their specifications to the bit") {
  each_isa_and_length([](Isa isa, int64_t n) {
    auto gate = random_floats(n, 6, 8.0f);
    const auto up = random_floats(n, 7);
    const float extremes[] = {-100.0f, 100.0f, -0.0f, 1e20f, -1e20f, kNan, kInfinity, -kInfinity};
    for (size_t i = 0; i < gate.size(); i += 11) gate[i] = extremes[i / 11 % 8];
    std::vector<float> expected(gate.size()), out(gate.size());
    reference::silu_multiply(gate.data(), up.data(), n, expected.data());
    silu_multiply(isa, gate.data(), up.data(), n, out.data());
    CHECK(same(out, expected));
    reference::gelu_multiply(gate.data(), up.data(), n, expected.data());
    gelu_multiply(isa, gate.data(), up.data(), n, out.data());
    CHECK(same(out, expected));
  });
}

TEST_CASE("silu and gelu are the functions of that name") {
  const float one = 1.0f;
  for (float z = -12.0f; z <= 12.0f; z += 0.25f) {
    float silu = 0.0f, gelu = 0.0f;
    silu_multiply(best_isa(), &z, &one, 1, &silu);
    gelu_multiply(best_isa(), &z, &one, 1, &gelu);
    const double x = static_cast<double>(z);
    INFO("z = " << z);
    CHECK(static_cast<double>(silu) == Approx(x / (1.0 + std::exp(-x))).epsilon(1e-6).margin(1e-12));
    CHECK(static_cast<double>(gelu) ==
          Approx(0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)))).epsilon(1e-5).margin(1e-7));
  }
}

TEST_CASE("soft_cap equals its specification to the bit, in place, and writes nothing past the end") {
  each_isa_and_length([](Isa isa, int64_t n) {
    for (float cap : {0.25f, 30.0f}) {
      auto x = random_floats(n + 1, 20, 40.0f);
      const float extremes[] = {-1e30f, 1e30f, -0.0f, 0.0f, 1e-30f, kNan, kInfinity, -kInfinity};
      for (size_t i = 0; i + 1 < x.size(); i += 11) x[i] = extremes[i / 11 % 8];
      auto expected = x;
      for (size_t i = 0; i + 1 < x.size(); ++i) expected[i] = reference::soft_cap(x[i], cap);
      soft_cap(isa, x.data(), cap, n);
      CHECK(same(x, expected));
    }
  });
}

TEST_CASE("soft_cap is cap times tanh of x over cap, and an infinity becomes NaN") {
  for (float cap : {0.5f, 30.0f, 50.0f}) {
    for (float x = -5.0f * cap; x <= 5.0f * cap; x += 0.03f * cap) {
      float capped = x;
      soft_cap(best_isa(), &capped, cap, 1);
      INFO("x = " << x << ", cap " << cap);
      const double expected = static_cast<double>(cap) * std::tanh(static_cast<double>(x) / static_cast<double>(cap));
      CHECK(std::fabs(static_cast<double>(capped) - expected) < 4e-7 * static_cast<double>(cap));
    }
    float values[] = {0.0f, 1e30f, -1e30f, kInfinity, -kInfinity, kNan};
    soft_cap(best_isa(), values, cap, 6);
    CHECK(values[0] == 0.0f);
    CHECK(values[1] == cap);
    CHECK(values[2] == -cap);
    for (int i = 3; i < 6; ++i) CHECK(std::isnan(values[i]));
  }
}

TEST_CASE("rope equals its specification to the bit for both pairings and any rotary width") {
  for (Isa isa : available_isas())
    for (RopePairs pairs : {RopePairs::interleaved, RopePairs::halves})
      for (int rotary : {2, 4, 16, 30, 32, 64, 80, 96, 128})
        for (int heads : {1, 3}) {
          const int head_dim = rotary + 16;
          const auto table = random_floats(rotary, 8, 0.7f);
          auto x = random_floats(heads * head_dim, 9), expected = x;
          reference::rope(expected.data(), heads, head_dim, rotary, pairs, table.data());
          rope(isa, x.data(), heads, head_dim, rotary, pairs, table.data());
          INFO(isa_name(isa) << ", rotary " << rotary << ", heads " << heads);
          CHECK(same(x, expected));
        }
}

TEST_CASE("a rotation table row holds the cosines, then the sines, of position times frequency") {
  std::vector<float> row(4);
  rope_table_row(0, {1.0, 0.01}, 1.5f, row.data());
  CHECK(row == std::vector<float>{1.5f, 1.5f, 0.0f, 0.0f});
  rope_table_row(100000, {1.0, 0.01}, 1.0f, row.data());
  CHECK(row[0] == static_cast<float>(std::cos(100000.0)));
  CHECK(row[1] == static_cast<float>(std::cos(1000.0)));
  CHECK(row[2] == static_cast<float>(std::sin(100000.0)));
  CHECK(row[3] == static_cast<float>(std::sin(1000.0)));
}

TEST_CASE("a rotation by the table turns the pair by the angle") {
  std::vector<float> row(2), x = {1.0f, 0.0f};
  rope_table_row(3, {0.5}, 1.0f, row.data());
  rope(best_isa(), x.data(), 1, 2, 2, RopePairs::halves, row.data());
  CHECK(static_cast<double>(x[0]) == Approx(std::cos(1.5)));
  CHECK(static_cast<double>(x[1]) == Approx(std::sin(1.5)));
}

TEST_CASE("arg_max finds the greatest element wherever it stands, the lowest index on ties") {
  each_isa_and_length([](Isa isa, int64_t n) {
    auto x = random_floats(n, 10);
    CHECK(arg_max(isa, x.data(), n) == reference::arg_max(x.data(), n));
    const int64_t step = n <= 100 ? 1 : n / 37;
    for (int64_t at = 0; at < n; at += step) {
      auto y = x;
      y[static_cast<size_t>(at)] = 1000.0f;
      y.back() = 1000.0f;
      CHECK(arg_max(isa, y.data(), n) == at);
    }
    const std::vector<float> flat(static_cast<size_t>(n), -kInfinity);
    CHECK(arg_max(isa, flat.data(), n) == 0);
  });
}

TEST_CASE("arg_max takes zeros of both signs for a tie") {
  std::vector<float> x(70, -1.0f);
  x[20] = -0.0f;
  x[50] = 0.0f;
  for (Isa isa : available_isas()) CHECK(arg_max(isa, x.data(), 70) == 20);
}

TEST_CASE("arg_max refuses a row with a NaN or a positive infinity anywhere, and an empty one") {
  each_isa_and_length([](Isa isa, int64_t n) {
    const auto x = random_floats(n, 11);
    const int64_t step = n <= 100 ? 1 : n / 37;
    for (int64_t at = 0; at < n; at += step)
      for (float bad : {kNan, -kNan, kInfinity}) {
        auto y = x;
        y[static_cast<size_t>(at)] = bad;
        CHECK(arg_max(isa, y.data(), n) == -1);
      }
  });
  for (Isa isa : available_isas()) CHECK(arg_max(isa, nullptr, 0) == -1);
}

TEST_CASE("max_value equals its specification, and is NaN when any element is") {
  each_isa_and_length([](Isa isa, int64_t n) {
    auto x = random_floats(n, 12);
    CHECK(same({max_value(isa, x.data(), n)}, {reference::max_value(x.data(), n)}));
    x[static_cast<size_t>(n / 2)] = kInfinity;
    CHECK(max_value(isa, x.data(), n) == kInfinity);
    x[static_cast<size_t>(n / 3)] = kNan;
    CHECK(std::isnan(max_value(isa, x.data(), n)));
    const std::vector<float> negative_zeros(static_cast<size_t>(n), -0.0f);
    CHECK(same({max_value(isa, negative_zeros.data(), n)}, {0.0f}));
  });
}

TEST_CASE("sum_exp equals its specification to the bit") {
  each_isa_and_length([](Isa isa, int64_t n) {
    auto x = random_floats(n, 13, 10.0f);
    x[0] = -kInfinity;  // a token that a mask forbids
    const float max = reference::max_value(x.data() + (n > 1), n - (n > 1));
    for (float inverse_temperature : {1.0f, 1.25f, 0.1f})
      CHECK(same({sum_exp(isa, x.data(), n, max, inverse_temperature)}, {reference::sum_exp(x.data(), n, max, inverse_temperature)}));
  });
}

TEST_CASE("collect_at_least lists the indices in order, for thresholds that take all, some and none") {
  each_isa_and_length([](Isa isa, int64_t n) {
    auto x = random_floats(n, 14);
    x[static_cast<size_t>(n / 2)] = kNan;
    for (float threshold : {-kInfinity, -1.0f, 0.0f, 2.0f, 100.0f, kNan}) {
      std::vector<int32_t> out(static_cast<size_t>(n) + 1, -7);
      const int64_t count = collect_at_least(isa, x.data(), n, threshold, out.data());
      CHECK(out.back() == -7);
      out.resize(static_cast<size_t>(count));
      CHECK(out == reference::collect_at_least(x.data(), n, threshold));
    }
  });
}
