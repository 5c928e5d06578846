#include "cli/sampling_options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <random>
#include <utility>

namespace outrider::cli {
namespace {

// "29=-4.5": a token id and what is added to its logit.
Result<std::pair<int32_t, float>> parse_bias(const std::string& text) {
  const char* const end = text.data() + text.size();
  int32_t id = 0;
  float value = 0;
  const auto [after_id, id_error] = std::from_chars(text.data(), end, id);
  if (id_error == std::errc() && id >= 0 && after_id != end && *after_id == '=') {
    const char* begin = after_id + 1;
    if (begin != end && *begin == '+') ++begin;
    const auto [after_value, value_error] = std::from_chars(begin, end, value);
    if (value_error == std::errc() && after_value == end) return std::pair{id, value};
  }
  return Error{"--logit-bias: expected ID=VALUE, found \"" + text + "\"; for example --logit-bias 29=-4.5"};
}

// CLI11 would wrap a negative number around.
Result<uint64_t> parse_seed(const std::string& text) {
  uint64_t seed = 0;
  const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && after == text.data() + text.size()) return seed;
  return Error{"--seed: expected a whole number from 0 to 18446744073709551615, found \"" + text + "\""};
}

template <class T>
Result<void> take(const Json& object, const char* name, const char* expected, T& target) {
  if (!object.contains(name) || object[name].is_null()) return {};
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const Json& value = object[name];  // the library would round and wrap
    const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<uint64_t>())
                                                 : value.is_number_integer() && std::in_range<T>(value.get<int64_t>());
    if (!fits) return Error{std::string("member \"") + name + "\": expected " + expected + ", found " + to_line(value).substr(0, 40)};
  }
  OUTRIDER_TRY(target, member<T>(object, name, expected));
  return {};
}

}  // namespace

void add_sampling_options(CLI::App& command, SamplingOptions& options, int32_t max_tokens) {
  verify::SamplingParams& params = options.params;
  params.max_tokens = max_tokens;
  const std::string group = "Sampling";
  command.add_option("-n,--max-tokens", params.max_tokens, "Most tokens of output")->capture_default_str()->group(group);
  command.add_option("--temperature,--temp", params.temperature, "0: always the most probable token")->capture_default_str()->group(group);
  command.add_option("--top-k", params.top_k, "Only the K most probable tokens; 0: all")->capture_default_str()->group(group);
  command.add_option("--top-p", params.top_p, "Only the most probable tokens that make up P")->capture_default_str()->group(group);
  command.add_option("--min-p", params.min_p, "Only tokens at least P times as probable as the best")->capture_default_str()->group(group);
  command.add_option("--repetition-penalty,--repeat-penalty", params.repetition_penalty, "Above 1: tokens seen before become less probable")
      ->capture_default_str()->group(group);
  command.add_option("--presence-penalty", params.presence_penalty, "Taken from the logit of a token in the output")
      ->capture_default_str()->group(group);
  command.add_option("--frequency-penalty", params.frequency_penalty, "The same, for each time it is there")
      ->capture_default_str()->group(group);
  command.add_option("--logit-bias", options.logit_bias, "Added to a token's logit; repeatable")->type_name("ID=VALUE")
      ->expected(1)->take_all()->group(group);
  command.add_option("--seed", options.seed, "The same seed gives the same text; drawn when not given")->type_name("UINT")->group(group);
  command.add_option("--stop", params.stop, "Text that ends the output and is not part of it; repeatable")
      ->expected(1)->take_all()->group(group);
  command.add_option("--stop-token", params.stop_tokens, "Token id that ends the output; repeatable")
      ->expected(1)->take_all()->group(group);
  command.add_flag("--ignore-eos", params.ignore_eos, "Go on past the end-of-text token")->group(group);
}

Result<verify::SamplingParams> sampling_params(const SamplingOptions& options) {
  verify::SamplingParams params = options.params;
  for (const std::string& text : options.logit_bias) {
    OUTRIDER_TRY(auto bias, parse_bias(text));
    params.logit_bias.push_back(bias);
  }
  if (!options.seed.empty()) {
    OUTRIDER_TRY(params.seed, parse_seed(options.seed));
  } else {
    std::random_device device;
    params.seed = (static_cast<uint64_t>(device()) << 32) | device();
  }
  OUTRIDER_CHECK(verify::check(params, std::numeric_limits<int32_t>::max()));  // the engine checks ids against its vocabulary
  return params;
}

Result<verify::SamplingParams> with_members(verify::SamplingParams params, const Json& object) {
  OUTRIDER_CHECK(take(object, "max_tokens", "a whole number", params.max_tokens));
  OUTRIDER_CHECK(take(object, "temperature", "a number", params.temperature));
  OUTRIDER_CHECK(take(object, "top_k", "a whole number", params.top_k));
  OUTRIDER_CHECK(take(object, "top_p", "a number", params.top_p));
  OUTRIDER_CHECK(take(object, "min_p", "a number", params.min_p));
  OUTRIDER_CHECK(take(object, "repetition_penalty", "a number", params.repetition_penalty));
  OUTRIDER_CHECK(take(object, "presence_penalty", "a number", params.presence_penalty));
  OUTRIDER_CHECK(take(object, "frequency_penalty", "a number", params.frequency_penalty));
  OUTRIDER_CHECK(take(object, "ignore_eos", "true or false", params.ignore_eos));
  OUTRIDER_CHECK(take(object, "n", "a whole number", params.n));
  if (object.contains("seed") && !object["seed"].is_null()) {
    uint64_t seed = 0;
    OUTRIDER_CHECK(take(object, "seed", "a whole number", seed));
    params.seed = seed;
  }
  if (object.contains("stop") && object["stop"].is_string()) {
    params.stop = {object["stop"].get<std::string>()};
  } else {
    OUTRIDER_CHECK(take(object, "stop", "a string or a list of strings", params.stop));
  }
  if (object.contains("stop_token_ids")) {
    OUTRIDER_TRY(params.stop_tokens, token_list(object["stop_token_ids"], "member \"stop_token_ids\""));
  }
  return params;  // the engine checks the ranges when the request arrives
}

}  // namespace outrider::cli
