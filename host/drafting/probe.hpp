// Opens a plugin in a child process first. A library's constructors run inside dlopen, a damaged one can kill the process there, and one
// that calls exit(0) looks like success from outside: so the child must say in words, over a pipe, that it got through.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace outrider::drafting {

// Starts outrider-probe on `library` and waits for its word, at most `patience`. `file` is how messages call the library. An Error is a
// Refusal's text that says how far the child got and how it ended. Nothing of the library runs in this process. Any thread.
Result<void> probe(const std::filesystem::path& library, const std::string& file,
                   std::chrono::milliseconds patience = std::chrono::seconds(10));

// What passes through the pipe (file descriptor 3 of the child): a line for each stage passed, then "ok" or "error TEXT".
inline constexpr int kProbePipe = 3;
inline constexpr const char* kProbeOpened = "opened";
inline constexpr const char* kProbeOk = "ok";
inline constexpr const char* kProbeError = "error ";

}  // namespace outrider::drafting
