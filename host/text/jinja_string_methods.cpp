// The methods of str. Positions are in code points; a method of a string marked safe gives a safe string, as Markup's
// do.
#include <algorithm>
#include <optional>

#include "text/jinja_builtins.hpp"
#include "text/jinja_interpreter.hpp"
#include "text/jinja_unicode.hpp"

namespace outrider::text::jinja {

namespace {

using Parts = std::vector<std::string_view>;

std::string optional_chars(const Bound& b, bool& given) {
  given = b.given(0) && !b[0].is(Kind::none);
  return given ? b.string(0, "") : std::string();
}

Value strip(Runtime& rt, const Value& self, const std::string& name, const Arguments& arguments) {
  const Bound b(arguments, name, {"/chars"});
  bool given = false;
  const std::string chars = optional_chars(b, given);
  std::string_view text = self.bytes();
  rt.step(1 + chars.size());
  if (name != "rstrip") text = given ? strip_left(text, chars) : strip_left(text);
  if (name != "lstrip") text = given ? strip_right(text, chars) : strip_right(text);
  return rt.string(std::string(text), self.safe());
}

// From the left; at most `limit` cuts, any number when negative.
Parts split_on(std::string_view text, std::string_view separator, Int limit) {
  Parts parts;
  while (limit != 0) {
    const std::size_t at = text.find(separator);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
    if (limit > 0) --limit;
  }
  parts.push_back(text);
  return parts;
}

Parts split_on_last(std::string_view text, std::string_view separator, Int limit) {
  Parts parts;
  while (limit != 0) {
    const std::size_t at = text.rfind(separator);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(at + separator.size()));
    text = text.substr(0, at);
    if (limit > 0) --limit;
  }
  parts.push_back(text);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::size_t word_end(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && !is_space(code_point_at(text, i))) i += code_point_size(text, i);
  return i;
}

Parts split_on_space(std::string_view text, Int limit) {
  Parts parts;
  for (text = strip_left(text); !text.empty(); text = strip_left(text)) {
    if (limit == 0) {
      parts.push_back(text);
      break;
    }
    const std::size_t end = word_end(text);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
    if (limit > 0) --limit;
  }
  return parts;
}

Parts split_on_last_space(std::string_view text, Int limit) {
  if (limit < 0) return split_on_space(text, limit);
  const Parts words = split_on_space(text, -1);
  if (Int(words.size()) <= limit) return words;
  // The last `limit` words stand alone; what is before keeps its inner whitespace.
  Parts parts;
  const std::size_t alone = std::min(words.size(), static_cast<std::size_t>(limit));
  const std::size_t joined = words.size() - alone;
  if (joined > 0) {
    const char* end = words[joined - 1].data() + words[joined - 1].size();
    parts.push_back(text.substr(0, static_cast<std::size_t>(end - text.data())));
  }
  parts.insert(parts.end(), words.begin() + static_cast<std::ptrdiff_t>(joined), words.end());
  return parts;
}

Value as_list(Runtime& rt, const Parts& parts, bool safe) {
  std::vector<Value> items;
  for (const std::string_view part : parts) items.push_back(rt.string(std::string(part), safe));
  return rt.list(std::move(items));
}

Value split(Runtime& rt, const Value& self, const std::string& name, const Arguments& arguments) {
  const Bound b(arguments, name, {"sep", "maxsplit"});
  const Int limit = b.integer(1, -1);
  rt.step(1 + self.bytes().size() / 64);
  if (!b.given(0) || b[0].is(Kind::none))
    return as_list(rt, name == "split" ? split_on_space(self.bytes(), limit) : split_on_last_space(self.bytes(), limit), self.safe());
  const std::string separator = b.string(0, "");
  if (separator.empty()) fail("empty separator");
  return as_list(rt, name == "split" ? split_on(self.bytes(), separator, limit) : split_on_last(self.bytes(), separator, limit),
                 self.safe());
}

// The part of the string that optional start and stop (in code points, as slices take them) leave, and where it starts.
std::optional<std::string_view> window(const Value& self, const Bound& b, std::size_t& first) {
  const Int length = Int(self.text().length);
  const auto bound = [&](std::size_t i, Int otherwise) {
    if (!b.given(i) || b[i].is(Kind::none)) return otherwise;
    Int v = want_integer(b[i]);
    if (v < 0) v = std::max(v + length, Int(0));
    return v;
  };
  const Int start = bound(1, 0), stop = std::min(bound(2, length), length);
  if (start > length || stop < start) return std::nullopt;
  first = static_cast<std::size_t>(start);
  const std::size_t from = byte_offset(self.bytes(), first), to = byte_offset(self.bytes(), static_cast<std::size_t>(stop));
  return std::string_view(self.bytes()).substr(from, to - from);
}

Value starts_or_ends(Runtime& rt, const Value& self, const std::string& name, const Arguments& arguments) {
  const Bound b(arguments, name, {"/affix", "/start", "/end"}, 1);
  std::size_t first = 0;
  const auto text = window(self, b, first);
  const auto matches = [&](const Value& v) {
    rt.step();
    if (!v.is(Kind::string)) fail(name + " first arg must be str or a tuple of str, not " + type_name(v));
    return text && (name == "startswith" ? text->starts_with(v.bytes()) : text->ends_with(v.bytes()));
  };
  if (!b[0].is(Kind::tuple)) return Value::boolean(matches(b[0]));
  for (const Value& v : b[0].list().items)
    if (matches(v)) return Value::boolean(true);
  return Value::boolean(false);
}

Value find(Runtime& rt, const Value& self, const std::string& name, const Arguments& arguments) {
  const Bound b(arguments, name, {"/sub", "/start", "/end"}, 1);
  const std::string what = b.string(0, "");
  std::size_t first = 0;
  const auto text = window(self, b, first);
  rt.step(1 + self.bytes().size() / 64);
  if (name == "count") {
    if (!text) return Value::integer(0);
    if (what.empty()) return Value::integer(Int(code_points(*text)) + 1);
    return Value::integer(Int(split_on(*text, what, -1).size()) - 1);
  }
  const std::size_t at = !text ? std::string_view::npos : name[0] == 'r' ? text->rfind(what) : text->find(what);
  if (at != std::string_view::npos) return Value::integer(Int(first + code_points(text->substr(0, at))));
  if (name.ends_with("index")) fail("substring not found");
  return Value::integer(-1);
}

std::string replaced(Runtime& rt, std::string_view text, std::string_view old, std::string_view with, Int count) {
  std::string out;
  const auto put = [&](std::string_view part) {
    rt.charge(part.size());
    out += part;
  };
  if (old.empty()) {  // before every code point, and at the end
    for (std::size_t i = 0; count != 0; --count) {
      put(with);
      if (i == text.size()) return out;
      const std::size_t size = code_point_size(text, i);
      put(text.substr(i, size));
      i += size;
      if (count == 1) put(text.substr(i));
    }
    return out.empty() ? std::string(text) : out;
  }
  for (; count != 0; --count) {
    const std::size_t at = text.find(old);
    if (at == std::string_view::npos) break;
    put(text.substr(0, at));
    put(with);
    text.remove_prefix(at + old.size());
  }
  put(text);
  return out;
}

Value join(Runtime& rt, const Value& self, const Arguments& arguments) {
  const Bound b(arguments, "join", {"/iterable"}, 1);
  std::string out;
  std::size_t i = 0;
  for (const Value& item : to_vector(rt, b[0])) {
    std::string text;
    if (self.safe())
      text = item.safe() ? item.bytes() : escape_html(to_text(rt, item));
    else if (item.is(Kind::string))
      text = item.bytes();
    else
      fail("sequence item " + std::to_string(i) + ": expected str instance, " + type_name(item) + " found");
    if (i++) out += self.bytes();
    out += text;
    rt.charge(text.size() + self.bytes().size());
  }
  return rt.string(std::move(out), self.safe());
}

Value padded(Runtime& rt, const Value& self, const std::string& name, const Arguments& arguments) {
  const Bound b(arguments, name, {"/width", "/fillchar"}, 1);
  const Int width = b.integer(0, 0);
  std::string fill = b.string(1, " ");
  if (code_points(fill) != 1) fail("The fill character must be exactly one character long");
  if (self.safe() && b.given(1) && !b[1].safe()) fill = escape_html(fill);
  const Int length = Int(self.text().length);
  if (width <= length) return self;
  const Int missing = width - length;
  rt.charge(static_cast<std::uint64_t>(std::min(missing, Int(1) << 40)) * fill.size());
  // Python's centre puts the odd one left only when the width is odd too.
  const Int left = name == "rjust" ? missing : name == "ljust" ? Int(0) : missing / 2 + (missing & width & 1);
  std::string out;
  for (Int i = 0; i < left; ++i) out += fill;
  out += self.bytes();
  for (Int i = left; i < missing; ++i) out += fill;
  return rt.string(std::move(out), self.safe());
}

// isdigit and its kin, for ASCII: Unicode's answer needs tables that no template has asked for.
Value classify(const Value& self, const std::string& name) {
  if (!self.text().ascii() && name != "isspace") fail("'" + name + "' of text that is not ASCII is not supported");
  const std::string& text = self.bytes();
  const auto all = [&](auto is) { return Value::boolean(!text.empty() && std::all_of(text.begin(), text.end(), is)); };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (name == "isspace") return Value::boolean(!text.empty() && strip_left(text).empty());
  if (name == "isdigit") return all(digit);
  if (name == "isalpha") return all([&](char c) { return lower(c) || upper(c); });
  if (name == "isalnum") return all([&](char c) { return lower(c) || upper(c) || digit(c); });
  const bool any_lower = std::any_of(text.begin(), text.end(), lower), any_upper = std::any_of(text.begin(), text.end(), upper);
  return Value::boolean(name == "islower" ? any_lower && !any_upper : any_upper && !any_lower);
}

Value partition(Runtime& rt, const Value& self, const std::string& name, const Arguments& arguments) {
  const Bound b(arguments, name, {"/sep"}, 1);
  const std::string separator = b.string(0, "");
  if (separator.empty()) fail("empty separator");
  const std::string& text = self.bytes();
  const std::size_t at = name == "partition" ? text.find(separator) : text.rfind(separator);
  std::string parts[3];
  if (at != std::string::npos) {
    parts[0] = text.substr(0, at);
    parts[1] = separator;
    parts[2] = text.substr(at + separator.size());
  } else {
    parts[name == "partition" ? 0 : 2] = text;
  }
  std::vector<Value> items;
  for (std::string& part : parts) items.push_back(rt.string(std::move(part), self.safe()));
  return rt.tuple(std::move(items));
}

std::string swapped_case(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view one = text.substr(i, code_point_size(text, i));
    const std::string upper = to_upper(one);
    out += upper == one ? to_lower(one) : upper;
    i += one.size();
  }
  return out;
}

}  // namespace

Value call_string_method(Interpreter& in, const Value& self, const std::string& name, const Arguments& arguments) {
  Runtime& rt = in.rt;
  const std::string& text = self.bytes();
  rt.step(1 + text.size() / 64);
  if (name == "strip" || name == "lstrip" || name == "rstrip") return strip(rt, self, name, arguments);
  if (name == "split" || name == "rsplit") return split(rt, self, name, arguments);
  if (name == "startswith" || name == "endswith") return starts_or_ends(rt, self, name, arguments);
  if (name == "find" || name == "rfind" || name == "index" || name == "rindex" || name == "count") return find(rt, self, name, arguments);
  if (name == "join") return join(rt, self, arguments);
  if (name == "format") {
    if (self.safe()) fail("format() of a string marked safe is not supported");
    return format_braces(in, self, arguments);
  }
  if (name == "replace") {
    const Bound b(arguments, name, {"/old", "/new", "/count"}, 2);
    std::string with = b.string(1, "");
    if (self.safe() && !b[1].safe()) with = escape_html(with);
    return rt.string(replaced(rt, text, b.string(0, ""), with, b.integer(2, -1)), self.safe());
  }
  if (name == "ljust" || name == "rjust" || name == "center") return padded(rt, self, name, arguments);
  if (name == "partition" || name == "rpartition") return partition(rt, self, name, arguments);
  if (name == "splitlines") {
    const Bound b(arguments, name, {"keepends"});
    return as_list(rt, split_lines(text, b.integer(0, 0) != 0), self.safe());
  }
  if (name == "removeprefix" || name == "removesuffix") {
    const Bound b(arguments, name, {"/affix"}, 1);
    const std::string affix = b.string(0, "");
    // Markup does not wrap these two, so what they give is a plain string.
    if (name == "removeprefix") return rt.string(text.starts_with(affix) ? text.substr(affix.size()) : text);
    return rt.string(text.ends_with(affix) ? text.substr(0, text.size() - affix.size()) : text);
  }
  if (name == "zfill") {
    const Bound b(arguments, name, {"/width"}, 1);
    const Int width = b.integer(0, 0), length = Int(self.text().length);
    if (width <= length) return rt.string(text);
    const Int missing = width - length;
    rt.charge(static_cast<std::uint64_t>(std::min(missing, Int(1) << 40)));
    const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    return rt.string(text.substr(0, sign) + std::string(static_cast<std::size_t>(missing), '0') + text.substr(sign));
  }
  const Bound none(arguments, name, {});
  if (name == "upper") return rt.string(to_upper(text), self.safe());
  if (name == "lower") return rt.string(to_lower(text), self.safe());
  if (name == "title") return rt.string(to_title(text), self.safe());
  if (name == "capitalize") return rt.string(capitalize(text), self.safe());
  if (name == "swapcase") {
    if (text.find("\xCE\xA3") != std::string::npos) fail("swapcase() of text with a capital sigma is not supported");
    return rt.string(swapped_case(text), self.safe());
  }
  return classify(self, name);
}

}  // namespace outrider::text::jinja
