#include "cli/sampling_options.hpp"

#include <catch2/catch.hpp>

#include <CLI/CLI.hpp>

namespace outrider::cli {
namespace {

Result<verify::SamplingParams> parse(std::vector<std::string> arguments) {
  CLI::App app;
  SamplingOptions options;
  add_sampling_options(app, options, 256);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants a vector
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return Error{error.what()};
  }
  return sampling_params(options);
}

TEST_CASE("without options decoding is greedy, bounded and has a seed", "[cli]") {
  const auto params = parse({});
  REQUIRE(params.ok());
  CHECK(params->greedy());
  CHECK(params->max_tokens == 256);
  CHECK(params->seed.has_value());
  CHECK_FALSE(params->has_penalties());
}

TEST_CASE("the options go by the names of other engines", "[cli]") {
  const auto params = parse({"--temp", "0.8", "--top-k", "40", "--top-p", "0.9", "--min-p", "0.05", "--repeat-penalty", "1.1",
                             "--presence-penalty", "0.5", "--frequency-penalty", "0.25", "--seed", "18446744073709551615", "-n", "7",
                             "--stop", "a", "--stop", "b c", "--stop-token", "3", "--stop-token", "4", "--logit-bias", "5=-1.5",
                             "--logit-bias", "6=-inf", "--ignore-eos"});
  REQUIRE(params.ok());
  CHECK(params->temperature == 0.8F);
  CHECK(params->top_k == 40);
  CHECK(params->top_p == 0.9F);
  CHECK(params->min_p == 0.05F);
  CHECK(params->repetition_penalty == 1.1F);
  CHECK(params->presence_penalty == 0.5F);
  CHECK(params->frequency_penalty == 0.25F);
  CHECK(params->seed == 18446744073709551615ULL);
  CHECK(params->max_tokens == 7);
  CHECK(params->stop == std::vector<std::string>{"a", "b c"});
  CHECK(params->stop_tokens == std::vector<int32_t>{3, 4});
  REQUIRE(params->logit_bias.size() == 2);
  CHECK(params->logit_bias[0] == std::pair<int32_t, float>{5, -1.5F});
  CHECK(params->ignore_eos);
}

TEST_CASE("a bias that is none and a value out of range are named", "[cli]") {
  for (const char* bad : {"7", "=1", "a=1", "-1=1", "7=", "7=1x", "99999999999=1"}) {
    INFO(bad);
    const auto params = parse({std::string("--logit-bias=") + bad});
    REQUIRE_FALSE(params.ok());
    CHECK(params.error().message.find("--logit-bias") == 0);
  }
  CHECK(parse({"--temperature=-1"}).error().message.find("temperature") == 0);
  CHECK_FALSE(parse({"--seed=-1"}).ok());
}

TEST_CASE("a line's members take the place of the defaults, and a wrong one is named", "[cli]") {
  verify::SamplingParams defaults;
  defaults.top_k = 9;
  const auto params = with_members(defaults, Json::parse(R"({"temperature": 1, "max_tokens": 5, "stop": "x", "seed": 3, "top_p": null})"));
  REQUIRE(params.ok());
  CHECK(params->temperature == 1.0F);
  CHECK(params->max_tokens == 5);
  CHECK(params->stop == std::vector<std::string>{"x"});
  CHECK(params->seed == 3U);
  CHECK(params->top_k == 9);
  for (const char* bad : {R"({"top_k": "many"})", R"({"top_k": 1.5})", R"({"top_k": 4294967297})", R"({"seed": -1})",
                          R"({"stop": 3})", R"({"stop": [3]})", R"({"seed": 1.5})",
                          R"({"ignore_eos": 1})", R"({"temperature": "hot"})", R"({"stop_token_ids": [-1]})"}) {
    INFO(bad);
    CHECK_FALSE(with_members(defaults, Json::parse(bad)).ok());
  }
}

}  // namespace
}  // namespace outrider::cli
