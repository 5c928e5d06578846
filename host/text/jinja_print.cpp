// str() and repr(): how Python writes each value.
#include <charconv>
#include <cmath>
#include <cstdio>

#include "text/jinja_unicode.hpp"
#include "text/jinja_value.hpp"

namespace outrider::text::jinja {

namespace {

std::string quoted(std::string_view bytes) {
  // Python prefers single quotes and takes double ones only where that saves escapes.
  const bool single = bytes.find('\'') != std::string_view::npos;
  const char quote = single && bytes.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t size = code_point_size(bytes, i);
    const char32_t c = code_point_at(bytes, i);
    char buffer[16];
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_printable(c)) {
      out.append(bytes.substr(i, size));
    } else {
      const char* format = c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x";
      std::snprintf(buffer, sizeof buffer, format, static_cast<unsigned>(c));
      out += buffer;
    }
    i += size;
  }
  return out + quote;
}

std::string sequence(Runtime& rt, const std::vector<Value>& items, const char* open, const char* close, int depth) {
  std::string out = open;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i) out += ", ";
    out += repr(rt, items[i], depth + 1);
  }
  rt.charge(out.size());
  return out + close;
}

std::string mapping(Runtime& rt, const Dict& dict, int depth) {
  std::string out = "{";
  for (std::size_t i = 0; i < dict.items.size(); ++i) {
    if (i) out += ", ";
    out += repr(rt, dict.items[i].first, depth + 1);
    out += ": ";
    out += repr(rt, dict.items[i].second, depth + 1);
  }
  rt.charge(out.size());
  return out + "}";
}

}  // namespace

std::string integer_text(Int i) {
  if (i == 0) return "0";
  const bool negative = i < 0;
  std::string digits;
  for (; i != 0; i /= 10)
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(negative ? -(i % 10) : i % 10)));
  return negative ? "-" + digits : digits;
}

std::string real_text(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific).ptr;
  const std::string_view shortest(buffer, static_cast<std::size_t>(end - buffer));  // [-]d[.ddd]e±xx
  const std::size_t e = shortest.find('e');
  int exponent = 0;
  const std::size_t digits_at = shortest[e + 1] == '+' ? e + 2 : e + 1;
  std::from_chars(shortest.data() + digits_at, shortest.data() + shortest.size(), exponent);
  std::string digits(shortest.substr(0, e));
  std::string sign;
  if (digits[0] == '-') sign = "-", digits.erase(0, 1);
  if (digits.size() > 1) digits.erase(1, 1);  // the point
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    std::snprintf(buffer, sizeof buffer, "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
    if (count > 1) digits.insert(1, 1, '.');
    return sign + digits + buffer;
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1)
    return sign + digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  return sign + digits.substr(0, static_cast<std::size_t>(exponent + 1)) + "." +
         digits.substr(static_cast<std::size_t>(exponent + 1));
}

std::string to_text(Runtime& rt, const Value& v) {
  switch (v.kind()) {
    case Kind::undefined:
      return "";
    case Kind::string:
      return v.bytes();
    default:
      return repr(rt, v);
  }
}

std::string repr(Runtime& rt, const Value& v, int depth) {
  rt.step();
  rt.check_depth(depth);
  switch (v.kind()) {
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "None";
    case Kind::boolean:
      return v.boolean() ? "True" : "False";
    case Kind::integer:
      return integer_text(v.integer());
    case Kind::real:
      return real_text(v.real());
    case Kind::string:
      return v.safe() ? "Markup(" + quoted(v.bytes()) + ")" : quoted(v.bytes());
    case Kind::list:
      return sequence(rt, v.list().items, "[", "]", depth);
    case Kind::tuple:
      return sequence(rt, v.list().items, "(", v.list().items.size() == 1 ? ",)" : ")", depth);
    case Kind::dict:
      return mapping(rt, v.dict(), depth);
    case Kind::range: {
      const auto& r = v.as<Range>();
      return "range(" + integer_text(r.start) + ", " + integer_text(r.stop) +
             (r.step == 1 ? "" : ", " + integer_text(r.step)) + ")";
    }
    case Kind::view:
      return type_name(v) + sequence(rt, to_vector(rt, v), "([", "])", depth);
    case Kind::name_space:
      return "<Namespace " + mapping(rt, *v.as<Namespace>().attributes, depth) + ">";
    default:
      // Python prints an address here, which no two runs share.
      fail(std::string("printing a '") + type_name(v) + "' object is not supported; " +
           (v.is(Kind::iterator) ? "make a list of it with |list" : "call it"));
  }
}

}  // namespace outrider::text::jinja
