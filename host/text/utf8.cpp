#include "text/utf8.hpp"

#include <cstring>

namespace outrider::text {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// What may follow a lead byte (Unicode 15, table 3-7): how many bytes in all, and the range of the second.
struct Lead {
  size_t length;  // 0: cannot begin a character
  unsigned char second_low;
  unsigned char second_high;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};  // below: an overlong form
  if (byte == 0xED) return {3, 0x80, 0x9F};  // above: a surrogate
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};  // above: past U+10FFFF
  return {0, 0, 0};
}

bool eight_are_ascii(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return (word & 0x8080808080808080u) == 0;
}

}  // namespace

Utf8Step next_utf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const Lead lead = lead_of(byte(0));
  if (lead.length == 1) return {Utf8Step::Kind::character, 1, byte(0)};
  if (lead.length == 0) return {Utf8Step::Kind::invalid, 1, 0};
  char32_t code_point = byte(0) & (0x7Fu >> lead.length);
  for (size_t i = 1; i < lead.length; ++i) {
    if (i == text.size()) return {Utf8Step::Kind::incomplete, i, 0};
    const unsigned char low = i == 1 ? lead.second_low : 0x80;
    const unsigned char high = i == 1 ? lead.second_high : 0xBF;
    if (byte(i) < low || byte(i) > high) return {Utf8Step::Kind::invalid, i, 0};
    code_point = code_point << 6 | (byte(i) & 0x3Fu);
  }
  return {Utf8Step::Kind::character, lead.length, code_point};
}

size_t valid_utf8_prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= 8 && eight_are_ascii(text.data() + at)) {
      at += 8;
      continue;
    }
    const Utf8Step step = next_utf8(text.substr(at));
    if (step.kind != Utf8Step::Kind::character) break;
    at += step.length;
  }
  return at;
}

size_t invalid_utf8_prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Step step = next_utf8(text.substr(at));
    if (step.kind == Utf8Step::Kind::character) break;
    at += step.length;
  }
  return at;
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

size_t append_valid_utf8(std::string& out, std::string_view bytes, bool final) {
  size_t at = 0;
  while (at < bytes.size()) {
    const size_t valid = valid_utf8_prefix(bytes.substr(at));
    out.append(bytes, at, valid);
    at += valid;
    if (at == bytes.size()) break;
    const Utf8Step step = next_utf8(bytes.substr(at));
    if (step.kind == Utf8Step::Kind::incomplete && !final) break;
    out.append(kReplacement);
    at += step.length;
  }
  return at;
}

std::string to_valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  append_valid_utf8(out, bytes, true);
  return out;
}

}  // namespace outrider::text
