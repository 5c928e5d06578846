// Text by code point as Python's str sees it: length, slices, whitespace, letter case. Bytes that are not valid UTF-8
// count as one code point each and pass unchanged, so no input is refused. Pure functions, callable from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace outrider::text::jinja {

std::size_t code_points(std::string_view bytes);                      // how many
std::size_t code_point_size(std::string_view bytes, std::size_t at);  // bytes of the one that starts at `at` (< size)
char32_t code_point_at(std::string_view bytes, std::size_t at);       // its value; U+FFFD for an invalid byte
std::size_t byte_offset(std::string_view bytes, std::size_t code_point);  // where the n-th starts, at most size()

bool is_space(char32_t c);      // str.isspace()
bool is_printable(char32_t c);  // str.isprintable()

std::string_view strip_left(std::string_view bytes);  // Unicode whitespace, as str.lstrip()
std::string_view strip_right(std::string_view bytes);
// As str.strip(chars): any of the code points in `chars`.
std::string_view strip_left(std::string_view bytes, std::string_view chars);
std::string_view strip_right(std::string_view bytes, std::string_view chars);

std::string to_upper(std::string_view bytes);  // full mappings: ß gives SS
std::string to_lower(std::string_view bytes);  // with the final sigma's rule
std::string capitalize(std::string_view bytes);
std::string to_title(std::string_view bytes);  // str.title(), which is not the filter `title`

std::vector<std::string_view> split_lines(std::string_view bytes, bool keep_ends);  // str.splitlines()

}  // namespace outrider::text::jinja
