// UTF-8 as the tokenizers and the streaming detokeniser see it: which bytes are valid, which are the start of a character still to
// be completed, and the replacement of what is neither. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace outrider::text {

struct Utf8Step {
  enum class Kind {
    character,   // `length` bytes are one valid character, `code_point`
    incomplete,  // the text ends inside a character that more bytes could complete; `length` is all that is left
    invalid,     // `length` bytes (1 to 3) can never become a character: Unicode's "maximal subpart"
  };
  Kind kind;
  size_t length;
  char32_t code_point;
};

// What `text` starts with. `text` is not empty.
Utf8Step next_utf8(std::string_view text);

// How many bytes from the start of `text` are whole, valid characters.
size_t valid_utf8_prefix(std::string_view text);

// How many bytes from the start of `text` are not part of any valid character. 0 for valid or empty text.
size_t invalid_utf8_prefix(std::string_view text);

// Appends `code_point` (a Unicode scalar value) to `out`.
void append_utf8(std::string& out, char32_t code_point);

// Appends `bytes` to `out` as valid UTF-8, each maximal invalid part as one U+FFFD. Unless `final`, an incomplete character at the
// end is left alone. Returns the number of bytes dealt with.
size_t append_valid_utf8(std::string& out, std::string_view bytes, bool final);

// The same for a whole text.
std::string to_valid_utf8(std::string_view bytes);

}  // namespace outrider::text
