// Python's two ways to format: printf-style `%` and str.format. A directive outside what is implemented is an error
// naming it.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "text/jinja_builtins.hpp"
#include "text/jinja_interpreter.hpp"
#include "text/jinja_unicode.hpp"

namespace outrider::text::jinja {

namespace {

constexpr Int kWidest = 1'000'000;

// One directive of either language.
struct Spec {
  std::string fill = " ";
  char align = '\0';  // < > ^ =, or none
  char sign = '-';    // - + or space
  bool alternate = false;
  char grouping = '\0';  // , or _
  Int width = 0;
  Int precision = -1;
  char type = '\0';
};

std::string padded(Runtime& rt, const Spec& spec, const std::string& sign, const std::string& body, char default_align) {
  const Int missing = spec.width - Int(code_points(sign) + code_points(body));
  if (missing <= 0) return sign + body;
  rt.charge(static_cast<std::uint64_t>(missing) * spec.fill.size());
  const auto fill = [&](Int n) {
    std::string out;
    for (Int i = 0; i < n; ++i) out += spec.fill;
    return out;
  };
  switch (spec.align ? spec.align : default_align) {
    case '<':
      return sign + body + fill(missing);
    case '^':
      return fill(missing / 2) + sign + body + fill(missing - missing / 2);
    case '=':
      return sign + fill(missing) + body;
    default:
      return fill(missing) + sign + body;
  }
}

std::string sign_text(bool negative, char sign) { return negative ? "-" : sign == '-' ? "" : std::string(1, sign); }

std::string digits_in_base(Int magnitude, int base, bool upper) {
  if (magnitude == 0) return "0";
  std::string out;
  for (; magnitude > 0; magnitude /= base) {
    const int digit = static_cast<int>(magnitude % base);
    out += static_cast<char>(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::string grouped(const std::string& digits, char separator, std::size_t every) {
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i && (digits.size() - i) % every == 0) out += separator;
    out += digits[i];
  }
  return out;
}

std::string integer_formatted(Runtime& rt, const Spec& spec, Int value, char default_align) {
  const char type = spec.type;
  const int base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : type == 'b' ? 2 : 10;
  const bool negative = value < 0;
  Int magnitude = value;
  if (negative && __builtin_sub_overflow(Int(0), value, &magnitude)) fail("integers beyond 128 bits are not supported");
  std::string digits = digits_in_base(magnitude, base, type == 'X');
  if (Int(digits.size()) < spec.precision)
    digits.insert(0, static_cast<std::size_t>(std::min(spec.precision, kWidest)) - digits.size(), '0');
  if (spec.grouping) {
    if (spec.fill == "0" && spec.align == '=') fail("grouping together with zero padding is not supported in a format");
    digits = grouped(digits, spec.grouping, base == 10 ? 3 : 4);
  }
  std::string sign = sign_text(negative, spec.sign);
  if (spec.alternate && base != 10) sign += std::string("0") + type;
  return padded(rt, spec, sign, digits, default_align);
}

std::string real_formatted(Runtime& rt, const Spec& spec, double value, char default_align) {
  if (spec.alternate) fail("the flag # with a float is not supported in a format");
  if (spec.precision > 1000) fail("a precision above 1000 is not supported in a format");
  char type = spec.type;
  const bool percent = type == '%';
  if (percent) value *= 100, type = 'f';
  const bool negative = std::signbit(value) && !std::isnan(value);
  const double magnitude = std::fabs(value);
  std::string body;
  if (!std::isfinite(value)) {
    body = std::isnan(value) ? "nan" : "inf";
    if (type == 'F' || type == 'E' || type == 'G') body = to_upper(body);
  } else {
    const char format[] = {'%', '.', '*', type, '\0'};
    body.resize(400 + static_cast<std::size_t>(std::max(spec.precision, Int(6))));
    // `type` is one of eEfFgG, checked by both callers.
    const int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int size = std::snprintf(body.data(), body.size(), format, precision, magnitude);
#pragma GCC diagnostic pop
    body.resize(static_cast<std::size_t>(size));
  }
  if (spec.grouping && std::isfinite(value)) {
    if (spec.fill == "0" && spec.align == '=') fail("grouping together with zero padding is not supported in a format");
    const std::size_t whole = std::min(body.find_first_not_of("0123456789"), body.size());
    body = grouped(body.substr(0, whole), spec.grouping, 3) + body.substr(whole);
  }
  if (percent) body += '%';
  return padded(rt, spec, sign_text(negative, spec.sign), body, default_align);
}

std::string cut(const std::string& text, Int precision) {
  if (precision < 0 || Int(text.size()) <= precision) return text;
  return text.substr(0, byte_offset(text, static_cast<std::size_t>(precision)));
}

Int read_number(std::string_view text, std::size_t& i) {
  Int n = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
    if ((n = n * 10 + (text[i] - '0')) > kWidest) fail("a width above 1000000 is not supported in a format");
  return n;
}

// The walk over `format % arguments`.
class Printf {
 public:
  Printf(Runtime& rt, const std::string& format, const Value& arguments) : rt_(rt), format_(format), arguments_(arguments) {
    // A sequence or mapping may hold arguments the format does not use; anything else is one argument that must be
    // used.
    mapping_ = arguments.is(Kind::dict) || arguments.is(Kind::list) || arguments.is(Kind::range) || arguments.is(Kind::undefined);
  }

  std::string run() {
    while (i_ < format_.size()) {
      const std::size_t percent = std::min(format_.find('%', i_), format_.size());
      out_.append(format_, i_, percent - i_);
      i_ = percent + 1;
      if (percent < format_.size()) directive();
      rt_.step();
    }
    const bool tuple_left = arguments_.is(Kind::tuple) && next_ < arguments_.list().items.size();
    const bool single_left = !arguments_.is(Kind::tuple) && !mapping_ && next_ == 0;
    if (tuple_left || single_left) fail("not all arguments converted during string formatting");
    return std::move(out_);
  }

 private:
  Value next() {
    if (arguments_.is(Kind::tuple) && next_ < arguments_.list().items.size()) return arguments_.list().items[next_++];
    if (arguments_.is(Kind::tuple) || next_ > 0) fail("not enough arguments for format string");
    ++next_;
    return arguments_;
  }

  char peek() const {
    if (i_ >= format_.size()) fail("incomplete format");
    return format_[i_];
  }

  void directive() {
    Spec spec;
    Value keyed;
    bool has_key = false, left = false, zero = false;
    if (peek() == '(') {
      const std::size_t close = format_.find(')', i_);
      if (close == std::string::npos) fail("incomplete format key");
      if (!arguments_.is(Kind::dict)) fail("format requires a mapping");
      const std::string key = format_.substr(i_ + 1, close - i_ - 1);
      const Value* found = arguments_.dict().find(rt_, rt_.string(key));
      if (!found) fail("KeyError: '" + key + "'");
      keyed = *found;
      has_key = true;
      i_ = close + 1;
    }
    for (; std::string_view("-+ #0").find(peek()) != std::string_view::npos; ++i_) {
      const char flag = format_[i_];
      if (flag == '-') left = true;
      if (flag == '+' || (flag == ' ' && spec.sign != '+')) spec.sign = flag;
      if (flag == '#') spec.alternate = true;
      if (flag == '0') zero = true;
    }
    if (peek() == '*') {
      ++i_;
      spec.width = want_integer(next());
      if (spec.width > kWidest || spec.width < -kWidest) fail("a width above 1000000 is not supported in a format");
      if (spec.width < 0) left = true, spec.width = -spec.width;
    } else {
      spec.width = read_number(format_, i_);
    }
    if (peek() == '.') {
      ++i_;
      if (peek() == '*') {
        ++i_;
        spec.precision = std::max(want_integer(next()), Int(0));
      } else {
        spec.precision = read_number(format_, i_);
      }
    }
    while (peek() == 'h' || peek() == 'l' || peek() == 'L') ++i_;
    spec.type = peek();
    ++i_;
    if (spec.type == '%') {
      out_ += '%';
      return;
    }
    const Value v = has_key ? keyed : next();
    if (left) spec.align = '<';
    put(spec, v, zero && !left);
  }

  void put(Spec& spec, const Value& v, bool zero) {
    switch (spec.type) {
      case 's':
      case 'r': {
        const std::string text = cut(spec.type == 's' ? to_text(rt_, v) : repr(rt_, v), spec.precision);
        out_ += padded(rt_, spec, "", text, '>');
        break;
      }
      case 'c': {
        std::string one;
        if (v.is(Kind::string) && v.text().length == 1)
          one = v.bytes();
        else
          fail("%c with anything but a single character is not supported");
        out_ += padded(rt_, spec, "", one, '>');
        break;
      }
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': {
        if (v.is(Kind::undefined)) fail(v.undefined_message());
        const bool decimal = spec.type != 'x' && spec.type != 'X' && spec.type != 'o';
        if (!v.is_number() || (v.is(Kind::real) && !decimal))
          fail(std::string("%") + spec.type + " format: " + (decimal ? "a real number" : "an integer") + " is required, not " +
               type_name(v));
        if (v.is(Kind::real) && !(std::fabs(v.real()) < 1e38)) fail("cannot convert this float to an integer");
        if (zero) spec.fill.assign(1, '0'), spec.align = '=';
        out_ += integer_formatted(rt_, spec, v.is(Kind::real) ? static_cast<Int>(v.real()) : v.as_integer(), '>');
        break;
      }
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        if (v.is(Kind::undefined)) fail(v.undefined_message());
        if (!v.is_number()) fail(std::string("must be real number, not ") + type_name(v));
        if (zero) spec.fill.assign(1, '0'), spec.align = '=';
        out_ += real_formatted(rt_, spec, v.as_real(), '>');
        break;
      default:
        fail(std::string("unsupported format character '") + spec.type + "'");
    }
  }

  Runtime& rt_;
  const std::string& format_;
  const Value& arguments_;
  bool mapping_ = false;
  std::size_t i_ = 0, next_ = 0;
  std::string out_;
};

Spec parse_spec(const std::string& text) {
  Spec spec;
  std::size_t i = 0;
  const auto is_align = [&](std::size_t at) {
    return at < text.size() && std::string_view("<>=^").find(text[at]) != std::string_view::npos;
  };
  if (!text.empty()) {
    const std::size_t first = code_point_size(text, 0);
    if (is_align(first)) {
      spec.fill = text.substr(0, first);
      spec.align = text[first];
      i = first + 1;
    } else if (is_align(0)) {
      spec.align = text[i++];
    }
  }
  if (i < text.size() && (text[i] == '+' || text[i] == '-' || text[i] == ' ')) spec.sign = text[i++];
  if (i < text.size() && text[i] == '#') spec.alternate = true, ++i;
  if (i < text.size() && text[i] == '0') {
    if (!spec.align) spec.fill.assign(1, '0'), spec.align = '=';
    ++i;
  }
  spec.width = read_number(text, i);
  if (i < text.size() && (text[i] == ',' || text[i] == '_')) spec.grouping = text[i++];
  if (i < text.size() && text[i] == '.') {
    const std::size_t digits = ++i;
    spec.precision = read_number(text, i);
    if (i == digits) fail("Format specifier missing precision");
  }
  if (i < text.size()) spec.type = text[i++];
  if (i != text.size()) fail("Invalid format specifier '" + text + "'");
  return spec;
}

std::string formatted(Runtime& rt, const Value& v, const std::string& spec_text) {
  if (spec_text.empty()) return to_text(rt, v);
  Spec spec = parse_spec(spec_text);
  const auto wrong = [&]() { fail(std::string("Unknown format code '") + spec.type + "' for object of type '" + type_name(v) + "'"); };
  if (v.is(Kind::string)) {
    if (spec.type && spec.type != 's') wrong();
    if (spec.align == '=' && spec.fill == "0") spec.align = '<';
    if (spec.align == '=' || spec.sign != '-' || spec.alternate || spec.grouping)
      fail("Invalid format specifier '" + spec_text + "' for a string");
    return padded(rt, spec, "", cut(v.bytes(), spec.precision), '<');
  }
  const bool real_type = spec.type && std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos;
  if (v.is_integral() && !real_type) {
    if (spec.type && std::string_view("dboxX").find(spec.type) == std::string_view::npos) wrong();
    if (spec.precision >= 0) fail("Precision not allowed in integer format specifier");
    return integer_formatted(rt, spec, v.as_integer(), '>');
  }
  if (v.is_number()) {
    if (!spec.type && spec.precision < 0 && !spec.grouping) {
      const std::string text = real_text(std::fabs(v.real()));
      return padded(rt, spec, sign_text(std::signbit(v.real()) && !std::isnan(v.real()), spec.sign), text, '>');
    }
    if (!spec.type) fail("a precision or grouping without a type is not supported for a float in a format");
    if (!real_type) wrong();
    return real_formatted(rt, spec, v.as_real(), '>');
  }
  fail(std::string("unsupported format string passed to ") + type_name(v) + ".__format__");
}

// The walk over format.format(…).
class Braces {
 public:
  Braces(Interpreter& in, const Arguments& arguments) : in_(in), arguments_(arguments) {}

  std::string run(std::string_view format, int depth) {
    if (depth > 1) fail("Max string recursion exceeded");
    std::string out;
    for (std::size_t i = 0; i < format.size();) {
      in_.rt.step();
      const char c = format[i];
      if (c != '{' && c != '}') {
        const std::size_t next = std::min(format.find_first_of("{}", i), format.size());
        out += format.substr(i, next - i);
        i = next;
        continue;
      }
      if (i + 1 < format.size() && format[i + 1] == c) {
        out += c;
        i += 2;
        continue;
      }
      if (c == '}') fail("Single '}' encountered in format string");
      const std::size_t close = matching(format, i);
      out += field(format.substr(i + 1, close - i - 1), depth);
      i = close + 1;
    }
    in_.rt.charge(out.size());
    return out;
  }

 private:
  static std::size_t matching(std::string_view format, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < format.size(); ++i) {
      if (format[i] == '{') ++depth;
      if (format[i] == '}' && --depth == 0) return i;
    }
    fail(open + 1 == format.size() ? "Single '{' encountered in format string" : "expected '}' before end of string");
  }

  std::string field(std::string_view text, int depth) {
    const std::size_t colon = text.find(':');
    std::string_view name = text.substr(0, colon);
    const std::string spec = colon == std::string_view::npos ? "" : run(text.substr(colon + 1), depth + 1);
    char conversion = '\0';
    if (const std::size_t mark = name.find('!'); mark != std::string_view::npos) {
      const std::string_view c = name.substr(mark + 1);
      if (c != "s" && c != "r") fail("the conversion '!" + std::string(c) + "' is not supported in a format");
      conversion = c[0];
      name = name.substr(0, mark);
    }
    Value v = lookup(name);
    if (conversion) v = in_.rt.string(conversion == 's' ? to_text(in_.rt, v) : repr(in_.rt, v));
    return formatted(in_.rt, v, spec);
  }

  Value lookup(std::string_view name) {
    std::size_t end = std::min(name.find_first_of(".["), name.size());
    const std::string_view first = name.substr(0, end);
    Value v;
    Int index = 0;
    if (first.empty() || (first[0] >= '0' && first[0] <= '9')) {
      const bool automatic = first.empty();
      if (automatic ? manual_ : automatic_ > 0) fail("cannot switch between manual and automatic field numbering");
      if (automatic)
        index = automatic_++;
      else if (!parse_integer(first, 10, index))
        fail("invalid field name '" + std::string(first) + "' in a format");
      manual_ = manual_ || !automatic;
      if (index >= Int(arguments_.positional.size()))
        fail("Replacement index " + integer_text(index) + " out of range for positional args tuple");
      v = arguments_.positional[static_cast<std::size_t>(index)];
    } else {
      const auto it = std::find_if(arguments_.named.begin(), arguments_.named.end(), [&](const auto& n) { return n.first == first; });
      if (it == arguments_.named.end()) fail("KeyError: '" + std::string(first) + "'");
      v = it->second;
    }
    while (end < name.size()) {
      if (name[end] == '.') {
        const std::size_t next = std::min(name.find_first_of(".[", end + 1), name.size());
        v = get_attribute(in_, v, std::string(name.substr(end + 1, next - end - 1)));
        end = next;
      } else {
        const std::size_t close = name.find(']', end);
        if (close == std::string_view::npos) fail("Missing ']' in format string");
        const std::string_view key = name.substr(end + 1, close - end - 1);
        const bool digits = !key.empty() && key.find_first_not_of("0123456789") == std::string_view::npos;
        v = get_item(in_, v, digits && parse_integer(key, 10, index) ? Value::integer(index) : Value::string(std::string(key)));
        end = close + 1;
        if (end < name.size() && name[end] != '.' && name[end] != '[') fail("Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return v;
  }

  Interpreter& in_;
  const Arguments& arguments_;
  Int automatic_ = 0;
  bool manual_ = false;
};

}  // namespace

Value format_printf(Interpreter& in, const Value& format, const Value& arguments) {
  if (format.safe()) fail("% on a string marked safe is not supported");
  return in.rt.string(Printf(in.rt, format.bytes(), arguments).run());
}

Value format_braces(Interpreter& in, const Value& format, const Arguments& arguments) {
  return in.rt.string(Braces(in, arguments).run(format.bytes(), 0));
}

}  // namespace outrider::text::jinja
