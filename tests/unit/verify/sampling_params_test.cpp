#include "verify/sampling_params.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace outrider::verify;

TEST_CASE("the default parameters are greedy and valid") {
  const SamplingParams params;
  CHECK(params.greedy());
  CHECK(check(params, 10).ok());
}

TEST_CASE("a value outside its range is an error that names the field and the range") {
  const auto refused = [](auto change, const std::string& field) {
    SamplingParams params;
    change(params);
    const auto result = check(params, 10);
    REQUIRE_FALSE(result.ok());
    INFO(result.error().message);
    CHECK(result.error().message.rfind(field + ": expected ", 0) == 0);
  };
  refused([](auto& p) { p.temperature = -1; }, "temperature");
  refused([](auto& p) { p.temperature = NAN; }, "temperature");
  refused([](auto& p) { p.temperature = INFINITY; }, "temperature");
  refused([](auto& p) { p.top_k = -1; }, "top_k");
  refused([](auto& p) { p.top_p = 0; }, "top_p");
  refused([](auto& p) { p.top_p = 1.5F; }, "top_p");
  refused([](auto& p) { p.min_p = 1; }, "min_p");
  refused([](auto& p) { p.repetition_penalty = 0; }, "repetition_penalty");
  refused([](auto& p) { p.presence_penalty = NAN; }, "presence_penalty");
  refused([](auto& p) { p.frequency_penalty = INFINITY; }, "frequency_penalty");
  refused([](auto& p) { p.max_tokens = -1; }, "max_tokens");
  refused([](auto& p) { p.n = 0; }, "n");
  refused([](auto& p) { p.logit_bias = {{10, 1.0F}}; }, "logit_bias");
  refused([](auto& p) { p.logit_bias = {{1, NAN}}; }, "logit_bias");
  refused([](auto& p) { p.stop_tokens = {-1}; }, "stop_tokens");
  refused([](auto& p) { p.stop = {""}; }, "stop");
}

TEST_CASE("a bias of minus infinity forbids a token and is allowed") {
  SamplingParams params;
  params.logit_bias = {{1, -INFINITY}};
  CHECK(check(params, 10).ok());
}
