#include "text/jinja_unicode.hpp"

#include <algorithm>

#include "text/jinja_unicode_data.hpp"
#include "text/utf8.hpp"

namespace outrider::text::jinja {

namespace {

constexpr char32_t kCapitalSigma = 0x3A3, kSigma = 0x3C3, kFinalSigma = 0x3C2;

bool in_ranges(std::span<const CodeRange> ranges, char32_t c) {
  const auto it = std::partition_point(ranges.begin(), ranges.end(), [c](const CodeRange& r) { return r.last < c; });
  return it != ranges.end() && it->first <= c;
}

const CaseSpecial* special_case(std::span<const CaseSpecial> specials, char32_t c) {
  const auto it =
      std::partition_point(specials.begin(), specials.end(), [c](const CaseSpecial& s) { return s.from < c; });
  return it != specials.end() && it->from == c ? &*it : nullptr;
}

void append_special(std::string& out, const CaseSpecial& special) {
  for (const char32_t c : special.to)
    if (c) append_utf8(out, c);
}

void append_mapped(std::string& out, char32_t c, std::span<const CaseRun> runs, std::span<const CaseSpecial> specials) {
  if (const CaseSpecial* special = special_case(specials, c)) return append_special(out, *special);
  // Runs with stride 2 may interleave (capital and small letters alternate), so the first that ends late enough may not
  // be the one.
  auto it = std::partition_point(runs.begin(), runs.end(), [c](const CaseRun& r) { return r.last < c; });
  for (; it != runs.end() && it->first <= c; ++it) {
    if ((c - it->first) % it->stride != 0) continue;
    return append_utf8(out, static_cast<char32_t>(static_cast<std::int32_t>(c) + it->delta));
  }
  append_utf8(out, c);
}

// Whether the capital sigma at `at` ends a word: a cased letter before it and none after, looking past ignorable
// characters.
bool sigma_is_final(std::string_view bytes, std::size_t at) {
  bool cased_before = false;
  for (std::size_t i = at; i > 0;) {
    do --i;
    while (i > 0 && (static_cast<unsigned char>(bytes[i]) & 0xC0) == 0x80);
    const char32_t c = code_point_at(bytes, i);
    if (in_ranges(case_ignorable_ranges(), c)) continue;
    cased_before = in_ranges(cased_ranges(), c);
    break;
  }
  if (!cased_before) return false;
  for (std::size_t i = at + code_point_size(bytes, at); i < bytes.size(); i += code_point_size(bytes, i)) {
    const char32_t c = code_point_at(bytes, i);
    if (!in_ranges(case_ignorable_ranges(), c)) return !in_ranges(cased_ranges(), c);
  }
  return true;
}

void append_lower(std::string& out, std::string_view bytes, std::size_t at, char32_t c) {
  if (c == kCapitalSigma)
    append_utf8(out, sigma_is_final(bytes, at) ? kFinalSigma : kSigma);
  else
    append_mapped(out, c, lower_runs(), lower_specials());
}

void append_title(std::string& out, char32_t c) {
  if (const CaseSpecial* special = special_case(title_specials(), c))
    append_special(out, *special);
  else
    append_mapped(out, c, upper_runs(), upper_specials());
}

// Calls convert(out, offset, code point) for each valid code point and copies the rest.
template <class Convert>
std::string convert_each(std::string_view bytes, Convert convert) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size();) {
    const Utf8Step step = next_utf8(bytes.substr(i));
    if (step.kind == Utf8Step::Kind::character) {
      convert(out, i, step.code_point);
      i += step.length;
    } else {
      out += bytes[i++];
    }
  }
  return out;
}

bool has(std::string_view chars, std::string_view one) {
  for (std::size_t i = 0; i < chars.size();) {
    const std::size_t size = code_point_size(chars, i);
    if (chars.substr(i, size) == one) return true;
    i += size;
  }
  return false;
}

std::size_t last_code_point(std::string_view bytes) {  // where the last one starts; bytes is not empty
  const std::size_t from = bytes.size() > 4 ? bytes.size() - 4 : 0;
  for (std::size_t i = from; i < bytes.size(); ++i) {
    const Utf8Step step = next_utf8(bytes.substr(i));
    if (step.kind == Utf8Step::Kind::character && i + step.length == bytes.size()) return i;
  }
  return bytes.size() - 1;
}

}  // namespace

std::size_t code_point_size(std::string_view bytes, std::size_t at) {
  if (static_cast<unsigned char>(bytes[at]) < 0x80) return 1;
  const Utf8Step step = next_utf8(bytes.substr(at, 4));
  return step.kind == Utf8Step::Kind::character ? step.length : 1;
}

char32_t code_point_at(std::string_view bytes, std::size_t at) {
  const Utf8Step step = next_utf8(bytes.substr(at, 4));
  return step.kind == Utf8Step::Kind::character ? step.code_point : char32_t{0xFFFD};
}

std::size_t code_points(std::string_view bytes) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < bytes.size(); i += code_point_size(bytes, i)) ++n;
  return n;
}

std::size_t byte_offset(std::string_view bytes, std::size_t code_point) {
  std::size_t i = 0;
  for (; code_point > 0 && i < bytes.size(); --code_point) i += code_point_size(bytes, i);
  return i;
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_printable(char32_t c) { return !in_ranges(unprintable_ranges(), c); }

std::string_view strip_left(std::string_view bytes) {
  while (!bytes.empty() && is_space(code_point_at(bytes, 0))) bytes.remove_prefix(code_point_size(bytes, 0));
  return bytes;
}

std::string_view strip_right(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t last = last_code_point(bytes);
    if (!is_space(code_point_at(bytes, last))) break;
    bytes = bytes.substr(0, last);
  }
  return bytes;
}

std::string_view strip_left(std::string_view bytes, std::string_view chars) {
  while (!bytes.empty()) {
    const std::size_t size = code_point_size(bytes, 0);
    if (!has(chars, bytes.substr(0, size))) break;
    bytes.remove_prefix(size);
  }
  return bytes;
}

std::string_view strip_right(std::string_view bytes, std::string_view chars) {
  while (!bytes.empty()) {
    const std::size_t last = last_code_point(bytes);
    if (!has(chars, bytes.substr(last))) break;
    bytes = bytes.substr(0, last);
  }
  return bytes;
}

std::string to_upper(std::string_view bytes) {
  return convert_each(
      bytes, [](std::string& out, std::size_t, char32_t c) { append_mapped(out, c, upper_runs(), upper_specials()); });
}

std::string to_lower(std::string_view bytes) {
  return convert_each(bytes, [&](std::string& out, std::size_t at, char32_t c) { append_lower(out, bytes, at, c); });
}

std::string capitalize(std::string_view bytes) {
  return convert_each(bytes, [&](std::string& out, std::size_t at, char32_t c) {
    if (at == 0)
      append_title(out, c);
    else
      append_lower(out, bytes, at, c);
  });
}

std::string to_title(std::string_view bytes) {
  bool after_cased = false;
  return convert_each(bytes, [&](std::string& out, std::size_t at, char32_t c) {
    if (after_cased)
      append_lower(out, bytes, at, c);
    else
      append_title(out, c);
    after_cased = in_ranges(cased_ranges(), c);
  });
}

std::vector<std::string_view> split_lines(std::string_view bytes, bool keep_ends) {
  std::vector<std::string_view> lines;
  std::size_t start = 0;
  for (std::size_t i = 0; i < bytes.size();) {
    const char32_t c = code_point_at(bytes, i);
    std::size_t next = i + code_point_size(bytes, i);
    if ((c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029) {
      if (c == '\r' && next < bytes.size() && bytes[next] == '\n') ++next;
      lines.push_back(bytes.substr(start, (keep_ends ? next : i) - start));
      start = next;
    }
    i = next;
  }
  if (start < bytes.size()) lines.push_back(bytes.substr(start));
  return lines;
}

}  // namespace outrider::text::jinja
