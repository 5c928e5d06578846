// What the program's exit status means, and how a command says that it failed. The numbers are documented in --help and README.md
// and are kept, since scripts depend on them.
#pragma once

#include <string>

#include "base/log.hpp"
#include "base/result.hpp"

namespace outrider::cli {

enum ExitCode : int {
  kOk = 0,             // done as asked
  kFailed = 1,         // an input could not be read or a request could not be answered
  kUsage = 2,          // the command line or the configuration is wrong
  kDiffers = 3,        // speculative and plain output differ: the program's promise is broken
  kInterrupted = 130,  // stopped by Ctrl-C
};

// Prints "error: WHERE: WHAT; REMEDY" to standard error and returns `code`.
inline int fail(const Error& error, ExitCode code = kFailed) {
  log::error("{}", error.message);
  return code;
}

}  // namespace outrider::cli
