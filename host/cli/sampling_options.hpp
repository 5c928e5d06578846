// The sampling options of every command that makes text, under the names that users of other engines know, and the same names as
// members of a JSON line. Checks what can be checked without a model; the engine checks the rest.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/jsonl.hpp"
#include "verify/sampling_params.hpp"

namespace CLI {
class App;
}

namespace outrider::cli {

struct SamplingOptions {
  verify::SamplingParams params;
  std::vector<std::string> logit_bias;  // "ID=VALUE", as written
  std::string seed;                     // as written; empty: none was given
};

// Declares --temperature, --top-k, …; `options` must live until the command has run. `max_tokens` is the default of --max-tokens.
void add_sampling_options(CLI::App& command, SamplingOptions& options, int32_t max_tokens);

// What the options say. Without --seed one is drawn, so that a request can be run a second time with the same noise.
// Errors: a value out of its range, named.
Result<verify::SamplingParams> sampling_params(const SamplingOptions& options);

// `params` with the members of `object` that name a sampling parameter (max_tokens, temperature, top_k, top_p, min_p, seed, stop, …)
// in place of its own. Errors name the member.
Result<verify::SamplingParams> with_members(verify::SamplingParams params, const Json& object);

}  // namespace outrider::cli
