// GPT-2's alphabet (Radford et al. 2019, `bytes_to_unicode`): byte-level vocabularies write each byte as one printable character,
// so that tokens and merges are text without spaces. Bytes that print stand for themselves, the other 68 for U+0100 onwards.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace outrider::text {

// The character that stands for `byte`.
char32_t byte_to_letter(unsigned char byte);

// The byte that `letter` stands for; nothing when it is not of the alphabet.
std::optional<unsigned char> letter_to_byte(char32_t letter);

// The bytes that `letters` stand for. A character outside the alphabet, and a byte that is not UTF-8, stands for itself.
std::string letters_to_bytes(std::string_view letters);

}  // namespace outrider::text
