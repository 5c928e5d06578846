#include "text/jinja_lexer.hpp"

#include <charconv>
#include <cstring>

#include "text/jinja_unicode.hpp"
#include "text/utf8.hpp"

namespace outrider::text::jinja {

namespace {

std::string unify_newlines(const std::string& source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out += source[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_char(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Lexer {
 public:
  explicit Lexer(const std::string& source) : source_(unify_newlines(source)), rest_(source_) {}

  std::vector<Token> run() {
    while (pos_ < source_.size()) data();
    emit(Token::Kind::end, "");
    return std::move(tokens_);
  }

 private:
  enum class Tag { none, variable, block, comment };

  [[nodiscard]] bool at(std::string_view what) const { return rest_.substr(pos_, what.size()) == what; }

  // Moves on to `to`, keeping line and column.
  void advance(std::size_t to) {
    while (pos_ < to) {
      if (source_[pos_] == '\n') {
        ++where_.line;
        where_.column = 1;
        ++pos_;
      } else {
        pos_ += code_point_size(rest_, pos_);
        ++where_.column;
      }
    }
    pos_ = to;
  }

  Token& emit(Token::Kind kind, std::string text) {
    tokens_.push_back({kind, std::move(text), where_, 0, 0});
    return tokens_.back();
  }

  [[nodiscard]] std::size_t skip_spaces(std::size_t i) const {
    while (i < source_.size() && is_space(code_point_at(rest_, i))) i += code_point_size(rest_, i);
    return i;
  }

  // What follows a tag's start: whether whitespace before the tag is to go.
  void emit_data(std::size_t end, char mark, bool may_lstrip) {
    std::string_view text = rest_.substr(pos_, end - pos_);
    const bool line_starting = pos_ == 0 || source_[pos_ - 1] == '\n';
    if (mark == '-') {
      text = strip_right(text);
    } else if (mark != '+' && may_lstrip) {
      const std::size_t newline = text.rfind('\n');
      const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
      if ((line > 0 || line_starting) && strip_left(text.substr(line)).empty()) text = text.substr(0, line);
    }
    if (!text.empty()) emit(Token::Kind::data, std::string(text));
    advance(end);
  }

  void data() {
    std::size_t i = pos_;
    Tag tag = Tag::none;
    for (; i < source_.size(); ++i) {
      const std::size_t brace = source_.find('{', i);
      if (brace == std::string::npos || brace + 1 >= source_.size()) {
        i = source_.size();
        break;
      }
      i = brace;
      const char second = source_[i + 1];
      tag = second == '{' ? Tag::variable : second == '%' ? Tag::block : second == '#' ? Tag::comment : Tag::none;
      if (tag != Tag::none) break;
    }
    if (tag == Tag::none) {
      emit(Token::Kind::data, std::string(rest_.substr(pos_)));
      return advance(source_.size());
    }
    const char mark = i + 2 < source_.size() ? source_[i + 2] : '\0';
    const bool marked = mark == '-' || mark == '+';
    emit_data(i, mark, tag != Tag::variable);
    const std::size_t inside = i + 2 + (marked ? 1 : 0);
    if (tag == Tag::comment) return comment(inside);
    if (tag == Tag::block) {
      if (const std::size_t body = raw_body(inside)) return raw(body);
      emit(Token::Kind::block_begin, "{%");
    } else {
      emit(Token::Kind::variable_begin, "{{");
    }
    advance(inside);
    code(tag == Tag::block);
  }

  void comment(std::size_t from) {
    const std::size_t close = source_.find("#}", from);
    if (close == std::string::npos) fail_at(where_, "missing end of comment tag: expected '#}'");
    // A mark belongs to the end only if it is not the start's own.
    const char mark = close > from ? source_[close - 1] : '\0';
    advance(after_close(close + 2, mark));
  }

  // Past a block's or comment's end: `-` takes all whitespace, nothing takes one newline (trim_blocks), `+` takes none.
  [[nodiscard]] std::size_t after_close(std::size_t i, char mark) const {
    if (mark == '-') return skip_spaces(i);
    if (mark != '+' && i < source_.size() && source_[i] == '\n') ++i;
    return i;
  }

  // Where the text of a raw block starts if the block that opened before `i` is one; else 0.
  [[nodiscard]] std::size_t raw_body(std::size_t i) const {
    i = skip_spaces(i);
    if (rest_.substr(i, 3) != "raw") return 0;
    i = skip_spaces(i + 3);
    if (rest_.substr(i, 3) == "-%}") return skip_spaces(i + 3);
    return rest_.substr(i, 2) == "%}" ? i + 2 : 0;  // raw keeps the newline after its tag
  }

  void raw(std::size_t body) {
    const Position opened = where_;
    advance(body);
    for (std::size_t i = source_.find("{%", pos_); i != std::string::npos; i = source_.find("{%", i + 2)) {
      const char mark = i + 2 < source_.size() ? source_[i + 2] : '\0';
      std::size_t j = skip_spaces(i + 2 + (mark == '-' || mark == '+' ? 1 : 0));
      if (rest_.substr(j, 6) != "endraw") continue;
      j = skip_spaces(j + 6);
      char close_mark = '\0';
      if (j < source_.size() && (source_[j] == '-' || source_[j] == '+')) close_mark = source_[j++];
      if (rest_.substr(j, 2) != "%}") continue;
      emit_data(i, mark, true);
      return advance(after_close(j + 2, close_mark));
    }
    fail_at(opened, "missing end of raw directive: expected '{% endraw %}'");
  }

  // The inside of {{ }} or {% %}.
  void code(bool block) {
    const Position opened = where_;
    std::string open_brackets;
    while (true) {
      advance(skip_spaces(pos_));
      if (pos_ >= source_.size())
        fail_at(opened, block ? "this block has no end: expected '%}'" : "this expression has no end: expected '}}'");
      if (open_brackets.empty()) {
        const std::string_view close = block ? "%}" : "}}";
        char mark = '\0';
        if (at("-") || (block && at("+"))) mark = source_[pos_];
        const std::size_t close_at = pos_ + (mark ? 1 : 0);
        if (rest_.substr(close_at, 2) == close) {
          emit(block ? Token::Kind::block_end : Token::Kind::variable_end, std::string(close));
          if (block) return advance(after_close(close_at + 2, mark));
          return advance(mark == '-' ? skip_spaces(close_at + 2) : close_at + 2);
        }
      }
      const char c = source_[pos_];
      if (is_digit(c)) {
        number();
      } else if (is_name_char(c)) {
        std::size_t end = pos_;
        while (end < source_.size() && is_name_char(source_[end]) && !is_space(code_point_at(rest_, end)))
          end += code_point_size(rest_, end);
        emit(Token::Kind::name, source_.substr(pos_, end - pos_));
        advance(end);
      } else if (c == '"' || c == '\'') {
        string(c);
      } else {
        op(open_brackets);
      }
    }
  }

  void number() {
    std::size_t end = pos_;
    const auto digits = [&](auto is) {
      const std::size_t from = end;
      while (end < source_.size() &&
             (is(source_[end]) || (source_[end] == '_' && end + 1 < source_.size() && is(source_[end + 1]))))
        ++end;
      return end > from;
    };
    const char prefix =
        source_[pos_] == '0' && pos_ + 2 < source_.size() ? static_cast<char>(source_[pos_ + 1] | 0x20) : '\0';
    const int base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
    if (base != 10) {
      end = pos_ + 2;
      const bool any = digits([base](char d) {
        const int value = is_digit(d) ? d - '0' : (d | 0x20) >= 'a' && (d | 0x20) <= 'z' ? (d | 0x20) - 'a' + 10 : 99;
        return value < base;
      });
      if (any) return integer(end, 2, base);
      end = pos_;
    }
    digits(is_digit);
    const std::size_t whole = end;
    bool real = false;
    const bool after_dot = pos_ > 0 && source_[pos_ - 1] == '.';  // a.0.1 is two subscripts
    if (!after_dot) {
      if (end + 1 < source_.size() && source_[end] == '.' && is_digit(source_[end + 1])) {
        ++end;
        digits(is_digit);
        real = true;
      }
      const std::size_t mantissa = end;
      if (end < source_.size() && (source_[end] | 0x20) == 'e') {
        ++end;
        if (end < source_.size() && (source_[end] == '+' || source_[end] == '-')) ++end;
        if (end < source_.size() && is_digit(source_[end]) && digits(is_digit))
          real = true;
        else
          end = mantissa;
      }
    }
    if (!real) {
      // Python has no integer that starts with 0 but 0 itself; the rest becomes a token of its own.
      end = whole;
      if (source_[pos_] == '0')
        for (end = pos_ + 1; end < whole && (source_[end] == '0' || source_[end] == '_');) ++end;
      return integer(end, 0, 10);
    }
    std::string digits_text = source_.substr(pos_, end - pos_);
    std::erase(digits_text, '_');
    double value = 0;
    const auto parsed = std::from_chars(digits_text.data(), digits_text.data() + digits_text.size(), value);
    if (parsed.ec != std::errc()) fail_at(where_, "the number " + digits_text + " is out of a double's range");
    emit(Token::Kind::real, digits_text).real = value;
    advance(end);
  }

  void integer(std::size_t end, std::size_t skip, int base) {
    Int value = 0;
    for (std::size_t i = pos_ + skip; i < end; ++i) {
      if (source_[i] == '_') continue;
      const int digit = is_digit(source_[i]) ? source_[i] - '0' : (source_[i] | 0x20) - 'a' + 10;
      if (__builtin_mul_overflow(value, Int(base), &value) || __builtin_add_overflow(value, Int(digit), &value))
        fail_at(where_, "integers beyond 128 bits are not supported");
    }
    emit(Token::Kind::integer, source_.substr(pos_, end - pos_)).integer = value;
    advance(end);
  }

  void string(char quote) {
    std::size_t end = pos_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail_at(where_, "this string has no closing quote");
    emit(Token::Kind::string, unescape(rest_.substr(pos_ + 1, end - pos_ - 1)));
    advance(end + 1);
  }

  std::string unescape(std::string_view body) const {
    std::string out;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (body[i] != '\\' || i + 1 >= body.size()) {
        out += body[i];
        continue;
      }
      const char c = body[++i];
      static constexpr char kFrom[] = "abfnrtv\\'\"", kTo[] = "\a\b\f\n\r\t\v\\'\"";
      if (c == '\n') continue;
      if (const char* found = std::strchr(kFrom, c); found && c) {
        out += kTo[found - kFrom];
      } else if (c >= '0' && c <= '7') {
        char32_t value = 0;
        std::size_t n = 0;
        for (; n < 3 && i + n < body.size() && body[i + n] >= '0' && body[i + n] <= '7'; ++n)
          value = value * 8 + char32_t(body[i + n] - '0');
        append_utf8(out, value);
        i += n - 1;
      } else if (c == 'x' || c == 'u' || c == 'U') {
        const std::size_t n = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        const std::string_view hex = body.substr(i + 1, n);
        std::uint32_t value = 0;
        const auto parsed = std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
        if (hex.size() != n || parsed.ptr != hex.data() + n || value > 0x10FFFF)
          fail_at(where_, std::string("the escape \\") + c + " in this string needs " + std::to_string(n) +
                              " hexadecimal digits of a character");
        if (value >= 0xD800 && value <= 0xDFFF) fail_at(where_, "a surrogate escape in a string is not supported");
        append_utf8(out, value);
        i += n;
      } else if (c == 'N') {
        fail_at(where_, "the escape \\N{name} in a string is not supported");
      } else {  // Python keeps an escape it does not know
        out += '\\';
        out += c;
      }
    }
    return out;
  }

  void op(std::string& open_brackets) {
    static constexpr std::string_view kOps[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
                                                "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    for (const std::string_view candidate : kOps) {
      if (!at(candidate)) continue;
      const char c = candidate[0];
      if (c == '(' || c == '[' || c == '{') open_brackets += c == '(' ? ')' : c == '[' ? ']' : '}';
      if (c == ')' || c == ']' || c == '}') {
        if (open_brackets.empty() || open_brackets.back() != c)
          fail_at(where_, std::string("unexpected '") + c + "'" +
                              (open_brackets.empty() ? "" : std::string(", expected '") + open_brackets.back() + "'"));
        open_brackets.pop_back();
      }
      emit(Token::Kind::op, std::string(candidate));
      return advance(pos_ + candidate.size());
    }
    fail_at(where_, "unexpected character " + std::string(rest_.substr(pos_, code_point_size(rest_, pos_))));
  }

  const std::string source_;
  const std::string_view rest_;
  std::size_t pos_ = 0;
  Position where_{1, 1};
  std::vector<Token> tokens_;
};

}  // namespace

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::data:
      return "text";
    case Token::Kind::variable_begin:
      return "'{{'";
    case Token::Kind::variable_end:
      return "end of print statement '}}'";
    case Token::Kind::block_begin:
      return "'{%'";
    case Token::Kind::block_end:
      return "end of statement block '%}'";
    case Token::Kind::name:
      return "name '" + token.text + "'";
    case Token::Kind::string:
      return "a string";
    case Token::Kind::integer:
    case Token::Kind::real:
      return "number " + token.text;
    case Token::Kind::op:
      return "'" + token.text + "'";
    case Token::Kind::end:
      return "end of template";
  }
  return "token";
}

std::vector<Token> tokenize(const std::string& source) { return Lexer(source).run(); }

}  // namespace outrider::text::jinja
