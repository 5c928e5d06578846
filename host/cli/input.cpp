#include "cli/input.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/interrupt.hpp"

namespace outrider::cli {
namespace {

constexpr size_t kLargest = size_t{256} << 20;  // far above any context; a mistaken path must not fill the memory

Result<std::string> read_descriptor(int descriptor, const std::string& name) {
  std::string text;
  char piece[1 << 16];
  while (true) {
    const ssize_t n = read(descriptor, piece, sizeof piece);
    if (n == 0) return text;
    if (n < 0) {
      if (errno == EINTR && !interrupted()) continue;
      return Error{name + ": cannot be read: " + std::strerror(errno)};
    }
    text.append(piece, static_cast<size_t>(n));
    if (text.size() > kLargest) return Error{name + ": expected a prompt, found more than 256 MiB; is it the right file?"};
  }
}

}  // namespace

Result<std::string> read_all(const std::string& path) {
  if (path == "-") return read_descriptor(STDIN_FILENO, "standard input");
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Error{path + ": cannot be opened: " + std::strerror(errno) + "; check the path"};
  Result<std::string> text = read_descriptor(descriptor, path);
  close(descriptor);
  return text;
}

}  // namespace outrider::cli
