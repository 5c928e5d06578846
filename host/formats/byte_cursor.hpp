// Reads little-endian values one after another from bytes that may be damaged. Every read is checked against the end; an error
// names the field that was being read, its byte offset and what was found. It knows no format beyond "a string is a u64
// length and that many bytes".
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace outrider::formats {

static_assert(std::endian::native == std::endian::little, "the readers in host/formats copy little-endian values as they are");

// Text from a file as it may appear in a message: short, in quotes, without control characters.
std::string quoted(std::string_view text);

class ByteCursor {
 public:
  ByteCursor(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  [[nodiscard]] uint64_t at() const { return at_; }
  [[nodiscard]] uint64_t remaining() const { return bytes_.size() - at_; }

  // "FILE: FIELD at byte AT: expected EXPECTED, found FOUND; the file is damaged …".
  [[nodiscard]] Error malformed(std::string_view field, uint64_t at, const std::string& expected, const std::string& found) const {
    return Error{std::string(file_) + ": " + std::string(field) + " at byte " + std::to_string(at) + ": expected " + expected +
                 ", found " + found + "; the file is damaged or incomplete: fetch it again or convert it again"};
  }

  template <class T>
  Result<T> read(std::string_view field) {
    if (remaining() < sizeof(T)) return ends_early(field, sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  Result<std::string_view> read_string(std::string_view field) {
    const uint64_t start = at_;
    OUTRIDER_TRY(const uint64_t length, read<uint64_t>(field));
    if (length > remaining()) {
      return malformed(field, start, "a length of at most the " + std::to_string(remaining()) + " bytes that follow",
                       std::to_string(length));
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + at_, length);
    at_ += length;
    return text;
  }

  Result<void> skip(std::string_view field, uint64_t bytes) {
    if (remaining() < bytes) return ends_early(field, bytes);
    at_ += bytes;
    return {};
  }

  // A count of things of at least `least_bytes` (> 0) bytes each: no more can be than the remaining bytes hold, so a count that
  // passes is safe to loop over.
  template <class T>
  Result<uint64_t> read_count(std::string_view field, uint64_t least_bytes) {
    const uint64_t start = at_;
    OUTRIDER_TRY(const T count, read<T>(field));
    if (count > remaining() / least_bytes) {
      return malformed(field, start,
                       "at most " + std::to_string(remaining() / least_bytes) + " (" + std::to_string(remaining()) +
                           " bytes follow, " + std::to_string(least_bytes) + " or more for each)",
                       std::to_string(count));
    }
    return uint64_t{count};
  }

 private:
  [[nodiscard]] Error ends_early(std::string_view field, uint64_t wanted) const {
    return malformed(field, at_, std::to_string(wanted) + " bytes", "the end of the file after " + std::to_string(remaining()));
  }

  std::span<const std::byte> bytes_;
  uint64_t at_ = 0;  // at_ <= bytes_.size() always
  std::string_view file_;
};

}  // namespace outrider::formats
