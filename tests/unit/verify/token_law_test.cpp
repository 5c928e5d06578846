#include "verify/token_law.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "support/chi_square.hpp"
#include "verify/noise.hpp"

using namespace outrider::verify;
using outrider::kernels::Isa;

namespace {

int32_t choose_one(const SamplingParams& params, const std::vector<float>& logits, uint64_t seed = 1, int64_t position = 0) {
  TokenLaw law(params, seed, {}, Isa::scalar);
  auto token = law.choose(logits, position);
  REQUIRE(token.ok());
  return *token;
}

// The law's probabilities by definition, with a sort of the whole vocabulary.
std::vector<double> by_definition(const SamplingParams& params, const std::vector<float>& logits) {
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  if (params.top_k > 0) order.resize(std::min(order.size(), static_cast<size_t>(params.top_k)));
  const double best = static_cast<double>(logits[order[0]]);
  std::vector<double> p(logits.size(), 0.0);
  double total = 0;
  for (const size_t i : order) total += p[i] = std::exp((static_cast<double>(logits[i]) - best) / static_cast<double>(params.temperature));
  double mass = 0;
  size_t kept = 0;
  while (kept < order.size() && mass < static_cast<double>(params.top_p) * total) mass += p[order[kept++]];
  for (size_t i = kept; i < order.size(); ++i) p[order[i]] = 0;
  for (double& value : p) {
    if (value < static_cast<double>(params.min_p)) value = 0;  // the best has 1 here
  }
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value /= sum;
  return p;
}

std::vector<float> random_logits(size_t n, uint32_t seed, float spread) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> logits(n);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

}  // namespace

TEST_CASE("greedy takes the greatest logit, the lowest id on ties") {
  CHECK(choose_one({}, {0.5F, 2.0F, 2.0F, -1.0F}) == 1);
  CHECK(choose_one({}, {-3.0F}) == 0);
}

TEST_CASE("NaN or infinity in a row is an error of the request and never a token") {
  for (const float bad : {NAN, INFINITY}) {
    for (const float temperature : {0.0F, 1.0F}) {
      SamplingParams params;
      params.temperature = temperature;
      TokenLaw law(params, 1, {}, Isa::scalar);
      const auto token = law.choose(std::vector<float>{0.0F, bad, 1.0F}, 7);
      REQUIRE_FALSE(token.ok());
      CHECK(token.error().message.find("position 7") != std::string::npos);
    }
  }
}

TEST_CASE("a repetition penalty divides positive and multiplies negative logits of tokens in prompt and output") {
  SamplingParams params;
  params.repetition_penalty = 2.0F;
  const std::vector<int32_t> prompt{0};
  TokenLaw law(params, 1, prompt, Isa::scalar);
  CHECK(*law.choose(std::vector<float>{4.0F, 2.5F, -1.0F}, 0) == 1);   // 2.0, 2.5, -1.0
  law.observe(1);
  CHECK(*law.choose(std::vector<float>{4.0F, 2.5F, 1.9F}, 1) == 0);    // 2.0, 1.25, 1.9
  CHECK(*law.choose(std::vector<float>{-1.0F, -2.0F, -1.5F}, 1) == 2); // -2.0, -4.0, -1.5
}

TEST_CASE("presence and frequency penalties count the output alone") {
  SamplingParams params;
  params.presence_penalty = 0.5F;
  params.frequency_penalty = 0.25F;
  const std::vector<int32_t> prompt{0, 0, 0};
  TokenLaw law(params, 1, prompt, Isa::scalar);
  CHECK(*law.choose(std::vector<float>{1.0F, 0.9F}, 0) == 0);  // the prompt does not count
  law.observe(0);
  CHECK(*law.choose(std::vector<float>{1.0F, 0.3F}, 1) == 1);  // 0.25, 0.3
  CHECK(*law.choose(std::vector<float>{1.0F, 0.2F}, 1) == 0);
  law.observe(0);
  CHECK(*law.choose(std::vector<float>{1.0F, 0.1F}, 2) == 1);  // 0, 0.1
}

TEST_CASE("a logit bias is added, and minus infinity forbids a token under both laws") {
  SamplingParams params;
  params.logit_bias = {{2, 10.0F}};
  CHECK(choose_one(params, {1.0F, 2.0F, 0.0F}) == 2);
  params.logit_bias = {{1, -INFINITY}};
  CHECK(choose_one(params, {1.0F, 2.0F, 0.0F}) == 0);
  params.temperature = 1.0F;
  for (uint64_t seed = 0; seed < 200; ++seed) CHECK(choose_one(params, {1.0F, 2.0F, 0.0F}, seed) != 1);
}

TEST_CASE("the coupled law is the argmax of scaled logits plus noise over all tokens") {
  const auto logits = random_logits(5000, 3, 4.0F);
  for (const float temperature : {0.3F, 0.8F, 1.0F, 3.0F}) {
    SamplingParams params;
    params.temperature = temperature;
    for (uint64_t seed = 1; seed <= 50; ++seed) {
      const int64_t position = static_cast<int64_t>(seed) * 13;
      const NoiseStream noise(seed, position);
      const float best_logit = *std::max_element(logits.begin(), logits.end());
      double best = -INFINITY;
      int32_t expected = -1;
      for (size_t i = 0; i < logits.size(); ++i) {
        const double value = (static_cast<double>(logits[i]) - static_cast<double>(best_logit)) * (1.0 / static_cast<double>(temperature)) +
                             gumbel(noise.bits(static_cast<int32_t>(i)));
        if (value > best) best = value, expected = static_cast<int32_t>(i);
      }
      REQUIRE(choose_one(params, logits, seed, position) == expected);
    }
  }
}

TEST_CASE("sampled tokens follow the law that the parameters define") {
  struct Case {
    float temperature;
    int32_t top_k;
    float top_p, min_p, spread;
  };
  const Case cases[] = {{1.0F, 0, 1.0F, 0.0F, 2.0F},  {0.7F, 5, 1.0F, 0.0F, 2.0F},    {1.0F, 0, 0.8F, 0.0F, 2.0F}, {1.3F, 0, 1.0F, 0.1F, 2.0F},
                        {0.9F, 20, 0.9F, 0.05F, 1.0F}, {1.0F, 0, 0.999F, 0.0F, 0.01F}, {2.0F, 0, 1.0F, 1e-5F, 6.0F}};
  for (const Case& c : cases) {
    SamplingParams params;
    params.temperature = c.temperature, params.top_k = c.top_k, params.top_p = c.top_p, params.min_p = c.min_p;
    const auto logits = random_logits(60, 9, c.spread);
    const auto expected = by_definition(params, logits);
    std::vector<int64_t> counts(logits.size(), 0);
    TokenLaw law(params, 77, {}, Isa::scalar);
    constexpr int kSamples = 50000;
    for (int position = 0; position < kSamples; ++position) ++counts[static_cast<size_t>(*law.choose(logits, position))];
    CAPTURE(c.temperature, c.top_k, c.top_p, c.min_p);
    CHECK(outrider::tests::chi_square_accepts(counts, expected, kSamples));
  }
}

TEST_CASE("the chi-square check refuses a law that is off") {
  const std::vector<double> expected{0.5, 0.3, 0.2};
  CHECK(outrider::tests::chi_square_accepts({25000, 15000, 10000}, expected, 50000));
  CHECK_FALSE(outrider::tests::chi_square_accepts({25000, 15700, 9300}, expected, 50000));
  CHECK_FALSE(outrider::tests::chi_square_accepts({25000, 24999, 1}, {0.5, 0.5, 0.0}, 50000));  // a token the law forbids
}

TEST_CASE("every instruction set chooses the same tokens") {
  const auto logits = random_logits(49152, 5, 3.0F);
  for (const auto& [top_k, top_p, min_p] : {std::tuple{0, 1.0F, 0.0F}, std::tuple{40, 0.95F, 0.05F}, std::tuple{0, 0.9F, 0.0F}}) {
    SamplingParams params;
    params.temperature = 0.8F, params.top_k = top_k, params.top_p = top_p, params.min_p = min_p;
    TokenLaw reference(params, 3, {}, Isa::scalar);
    for (const Isa isa : outrider::kernels::available_isas()) {
      TokenLaw law(params, 3, {}, isa);
      for (int64_t position = 0; position < 20; ++position) REQUIRE(*law.choose(logits, position) == *reference.choose(logits, position));
    }
  }
}
