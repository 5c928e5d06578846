// `outrider generate`: one prompt (generate.cpp) or a file of them (generate_many.cpp). This header is what the two share; the commands
// themselves are declared in commands.hpp.
#pragma once

#include <string>

#include "cli/prompt_options.hpp"
#include "cli/sampling_options.hpp"
#include "cli/session.hpp"

namespace outrider::cli {

struct GenerateOptions {
  config::CommandLine configuration;
  SamplingOptions sampling;
  PromptOptions prompt;
  std::string text;         // --prompt
  bool text_given = false;  // an empty prompt is a prompt
  std::string file;         // --file
  std::string jsonl;        // --jsonl
  int64_t parallel = 4;     // requests in flight, with --jsonl
  bool json = false;
  bool compare_plain = false;
  bool quiet = false;
};

// Answers each line of --jsonl, up to --parallel at a time, in the order of the lines. Returns an ExitCode.
int generate_many(const GenerateOptions& options);

}  // namespace outrider::cli
