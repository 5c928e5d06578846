// Any bytes at all as a GGUF file: the reader gives an error that names field, offset and remedy, or a file that can be read whole.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "support/gguf_walk.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = outrider::formats::GgufFile::from_bytes({reinterpret_cast<const std::byte*>(data), size}, "fuzz.gguf");
  if (file) {
    outrider::testing::walk(*file);
    return 0;
  }
  const std::string& message = file.error().message;
  for (const char* part : {"fuzz.gguf: ", ": expected ", ", found ", "; "}) {
    if (message.find(part) == std::string::npos) {
      std::fprintf(stderr, "an error without '%s': %s\n", part, message.c_str());
      std::abort();
    }
  }
  return 0;
}
