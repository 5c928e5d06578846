// The global functions, transformers' own among them, and numbers read from text.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>

#include "text/jinja_builtins.hpp"
#include "text/jinja_interpreter.hpp"
#include "text/jinja_unicode.hpp"

namespace outrider::text::jinja {

namespace {

constexpr std::string_view kFunctions[] = {"namespace", "range", "dict", "raise_exception", "strftime_now"};
constexpr std::string_view kUnsupported[] = {"cycler", "joiner", "lipsum"};
constexpr Int kLongestRange = 100'000;  // Jinja's sandbox

Value make_range(Runtime& rt, const Arguments& arguments) {
  if (!arguments.named.empty()) fail("range() takes no keyword arguments");
  const auto& given = arguments.positional;
  if (given.empty() || given.size() > 3) fail("range expected 1 to 3 arguments, got " + std::to_string(given.size()));
  Int values[3] = {0, 0, 1};
  if (given.size() == 1)
    values[1] = want_integer(given[0]);
  else
    for (std::size_t i = 0; i < given.size(); ++i) values[i] = want_integer(given[i]);
  if (values[2] == 0) fail("range() arg 3 must not be zero");
  for (const Int v : values)
    if (!in_range_bounds(v)) fail("range() bounds beyond 100 bits are not supported");
  Range* range = rt.make<Range>();
  range->start = values[0];
  range->stop = values[1];
  range->step = values[2];
  if (range->length() > kLongestRange)
    fail("Range too big. The sandbox blocks ranges larger than " + std::to_string(static_cast<int>(kLongestRange)));
  return Value::object(Kind::range, range);
}

Value make_dict(Runtime& rt, const Arguments& arguments) {
  if (arguments.positional.size() > 1) fail("dict expected at most 1 argument, got " + std::to_string(arguments.positional.size()));
  const Value out = rt.dict();
  if (!arguments.positional.empty()) {
    const Value& from = arguments.positional[0];
    if (from.is(Kind::undefined)) fail(from.undefined_message());
    if (from.is(Kind::dict)) {
      for (const auto& [key, value] : from.dict().items) out.dict().set(rt, key, value);
    } else {
      for (const Value& item : to_vector(rt, from)) {
        const std::vector<Value> pair = to_vector(rt, item);
        if (pair.size() != 2) fail("dictionary update sequence element has length " + std::to_string(pair.size()) + "; 2 is required");
        out.dict().set(rt, pair[0], pair[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.named) out.dict().set(rt, rt.string(name), value);
  return out;
}

// datetime.now().strftime(format): local time without a zone, microseconds for %f.
Value strftime_now(Runtime& rt, const std::string& format) {
  if (format.size() > 1000) fail("strftime_now: a format longer than 1000 bytes is not supported");
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() % 1'000'000;
  std::tm local{};
  localtime_r(&seconds, &local);
  std::string pattern;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 >= format.size()) {
      pattern += format[i];
      continue;
    }
    const char directive = format[++i];
    if (directive == 'f') {
      char digits[16];
      std::snprintf(digits, sizeof digits, "%06d", static_cast<int>(microseconds));
      pattern += digits;
    } else if (directive != 'z' && directive != 'Z') {
      pattern += {'%', directive};
    }
  }
  if (pattern.empty()) return rt.string("");
  pattern += '.';  // so that an empty result is told from a buffer too small
  std::string out(256, '\0');
  std::size_t size = 0;
  while ((size = std::strftime(out.data(), out.size(), pattern.c_str(), &local)) == 0) {
    if (out.size() > 1'000'000) fail("strftime_now: the format gives more than 1000000 bytes");
    out.resize(out.size() * 4);
  }
  out.resize(size - 1);
  return rt.string(std::move(out));
}

// Digits with single underscores between them, as Python allows; false when there is none or one is misplaced.
bool without_underscores(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const auto alnum = [](char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); };
    if (i == 0 || i + 1 == text.size() || !alnum(text[i - 1]) || !alnum(text[i + 1])) return false;
  }
  return !out.empty();
}

}  // namespace

bool is_function(std::string_view name) { return std::find(std::begin(kFunctions), std::end(kFunctions), name) != std::end(kFunctions); }
bool is_unsupported_function(std::string_view name) {
  return std::find(std::begin(kUnsupported), std::end(kUnsupported), name) != std::end(kUnsupported);
}

Value call_function(Interpreter& in, const std::string& name, const Arguments& arguments) {
  if (name == "namespace") {
    Namespace* ns = in.rt.make<Namespace>();
    ns->attributes = &make_dict(in.rt, arguments).dict();
    return Value::object(Kind::name_space, ns);
  }
  if (name == "range") return make_range(in.rt, arguments);
  if (name == "dict") return make_dict(in.rt, arguments);
  if (name == "raise_exception") {
    const Bound b(arguments, name, {"message"}, 1);
    fail(to_text(in.rt, b[0]));
  }
  const Bound b(arguments, name, {"format"}, 1);
  return strftime_now(in.rt, b.string(0, ""));
}

bool parse_integer(std::string_view text, int base, Int& out) {
  text = strip_right(strip_left(text));
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.size() > 1 && text[0] == '0' && base != 10) {
    const char letter = static_cast<char>(text[1] | 0x20);
    const int prefixed = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    if (prefixed && (base == 0 || base == prefixed)) {
      base = prefixed;
      text.remove_prefix(2);
      if (!text.empty() && text[0] == '_') text.remove_prefix(1);
    }
  }
  std::string digits;
  if (!without_underscores(text, digits)) return false;
  if (base == 0) {
    base = 10;
    if (digits[0] == '0' && digits.find_first_not_of('0') != std::string::npos) return false;
  }
  Int value = 0;
  for (const char c : digits) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? (c | 0x20) - 'a' + 10 : 99;
    if (digit >= base) return false;
    if (__builtin_mul_overflow(value, Int(base), &value) || __builtin_add_overflow(value, Int(digit), &value))
      fail("integers beyond 128 bits are not supported");
  }
  out = negative ? -value : value;
  return true;
}

bool parse_real(std::string_view text, double& out) {
  text = strip_right(strip_left(text));
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  std::string lower;
  if (!without_underscores(text, lower)) return false;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  if (lower == "inf" || lower == "infinity") {
    out = std::numeric_limits<double>::infinity();
  } else if (lower == "nan") {
    out = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (lower.find_first_not_of("0123456789.e+-") != std::string::npos || lower[0] == '-') return false;
    if (lower[0] == '.' && (lower.size() < 2 || lower[1] < '0' || lower[1] > '9')) return false;
    const auto parsed = std::from_chars(lower.data(), lower.data() + lower.size(), out);
    if (parsed.ptr != lower.data() + lower.size() || parsed.ec == std::errc::invalid_argument) return false;
    // Too large is infinity for Python, too small is zero.
    if (parsed.ec == std::errc::result_out_of_range)
      out = lower.find("e-") != std::string::npos || lower.starts_with("0.") || lower[0] == '.' ? 0.0
                                                                                                : std::numeric_limits<double>::infinity();
  }
  if (negative) out = -out;
  return true;
}

Value round_real(double value, int digits) {
  if (!std::isfinite(value)) return Value::real(value);
  // The C library prints the exact binary value rounded to nearest, which is how Python rounds.
  std::string text(400 + static_cast<std::size_t>(digits), '\0');
  const int size = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  double out = 0;
  std::from_chars(text.data(), text.data() + size, out);
  return Value::real(out);
}

}  // namespace outrider::text::jinja
