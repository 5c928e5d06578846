// Cuts a template into tokens, with the whitespace rules transformers renders with: trim_blocks, lstrip_blocks, the `-`
// and `+` marks, one trailing newline dropped. Fails with line and column on what Jinja's own lexer refuses. Knows no
// grammar.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/jinja_value.hpp"

namespace outrider::text::jinja {

struct Token {
  enum class Kind { data, variable_begin, variable_end, block_begin, block_end, name, string, integer, real, op, end };
  Kind kind = Kind::end;
  std::string text;  // data, a name, a string's value, an operator
  Position at;
  Int integer = 0;
  double real = 0;

  [[nodiscard]] bool is_op(std::string_view op) const { return kind == Kind::op && text == op; }
  [[nodiscard]] bool is_name(std::string_view name) const { return kind == Kind::name && text == name; }
};

std::string describe(const Token& token);  // for an error: "name 'foo'", "end of block"

std::vector<Token> tokenize(const std::string& source);

}  // namespace outrider::text::jinja
