// Reading what a person points at: a file or standard input, as bytes. Nothing is assumed about them: no encoding, no line ends, NUL
// bytes are bytes. Bounded, so that a mistaken path cannot fill the memory.
#pragma once

#include <string>

#include "base/result.hpp"

namespace outrider::cli {

// All bytes of a file; "-" is standard input. Errors: cannot be read, a folder, above 256 MiB.
Result<std::string> read_all(const std::string& path);

}  // namespace outrider::cli
