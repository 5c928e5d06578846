#include "formats/byte_cursor.hpp"

namespace outrider::formats {

std::string quoted(std::string_view text) {
  constexpr size_t kShown = 80;
  std::string out = "'";
  for (const char c : text.substr(0, kShown)) {
    // A name from a hostile file must not move the reader's cursor or break a log line apart.
    out += (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) ? '?' : c;
  }
  return out + (text.size() > kShown ? "…'" : "'");
}

}  // namespace outrider::formats
