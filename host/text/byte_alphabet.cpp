#include "text/byte_alphabet.hpp"

#include <array>

#include "text/utf8.hpp"

namespace outrider::text {

namespace {

constexpr bool prints(int byte) { return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD); }

struct Alphabet {
  std::array<char32_t, 256> letter{};
  std::array<int16_t, 0x100 + 68> byte{};  // by letter; -1: none
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (int16_t& byte : alphabet.byte) byte = -1;
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t letter = prints(byte) ? static_cast<char32_t>(byte) : next++;
    alphabet.letter[static_cast<size_t>(byte)] = letter;
    alphabet.byte[letter] = static_cast<int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

char32_t byte_to_letter(unsigned char byte) { return kAlphabet.letter[byte]; }

std::optional<unsigned char> letter_to_byte(char32_t letter) {
  if (letter >= kAlphabet.byte.size() || kAlphabet.byte[letter] < 0) return std::nullopt;
  return static_cast<unsigned char>(kAlphabet.byte[letter]);
}

std::string letters_to_bytes(std::string_view letters) {
  std::string bytes;
  bytes.reserve(letters.size());
  for (size_t at = 0; at < letters.size();) {
    const Utf8Step step = next_utf8(letters.substr(at));
    const auto byte = step.kind == Utf8Step::Kind::character ? letter_to_byte(step.code_point) : std::nullopt;
    if (byte) {
      bytes.push_back(static_cast<char>(*byte));
    } else {
      bytes.append(letters, at, step.length);
    }
    at += step.length;
  }
  return bytes;
}

}  // namespace outrider::text
