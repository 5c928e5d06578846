// Single values: judging them, reading them from text, showing them; and the nearest name to a mistyped one.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "config/fields.hpp"

namespace outrider::config {
namespace {

constexpr size_t kShownBytes = 80;

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (out.size() >= kShownBytes && (static_cast<unsigned char>(c) & 0xC0) != 0x80) {  // never in the middle of a character
      return out + "…\" (" + std::to_string(text.size()) + " bytes)";
    }
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          char code[8];
          std::snprintf(code, sizeof code, "\\u%04X", static_cast<unsigned>(static_cast<unsigned char>(c)));
          out += code;
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

std::string number(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

struct Shown {
  std::string operator()(std::monostate) const { return "unset"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number(value); }
  std::string operator()(const std::string& value) const { return in_quotes(value); }
  std::string operator()(const std::vector<std::string>& values) const {
    std::string text = "[";
    for (size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + in_quotes(values[i]);
    return text + ']';
  }
};

Error unexpected(const FieldInfo& info, const std::string& found) {
  return {"expected " + info.expectation() + " for " + info.path + ", found " + (info.attributes.secret ? "something else" : found)};
}

// Damerau-Levenshtein, the optimal string alignment form: insert, delete, replace, swap neighbours.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

Result<void> check(const FieldInfo& info, const FieldValue& value) {
  const FieldAttributes& rule = info.attributes;
  bool good = false;
  if (std::holds_alternative<std::monostate>(value)) {
    good = info.optional;
  } else if (info.type == FieldType::boolean) {
    good = std::holds_alternative<bool>(value);
  } else if (info.type == FieldType::integer) {
    const int64_t* number = std::get_if<int64_t>(&value);
    good = number != nullptr && *number >= rule.min && *number <= rule.max;
  } else if (const std::string* text = std::get_if<std::string>(&value)) {
    const auto unused = std::find(rule.choices.begin(), rule.choices.end(), std::string_view());
    const bool any = unused == rule.choices.begin();
    good = !text->empty() && text->find('\0') == std::string::npos && (any || std::find(rule.choices.begin(), unused, *text) != unused);
  }
  if (good) return {};
  return unexpected(info, to_text(value));
}

Result<FieldValue> parse(const FieldInfo& info, std::string_view text) {
  FieldValue value;
  if (info.optional && text == "unset") return value;
  switch (info.type) {
    case FieldType::boolean:
      if (text == "true" || text == "1") {
        value = true;
      } else if (text == "false" || text == "0") {
        value = false;
      } else {
        return unexpected(info, in_quotes(text));
      }
      break;
    case FieldType::integer: {
      int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size()) return unexpected(info, in_quotes(text));
      value = number;
      break;
    }
    case FieldType::text:
      value = std::string(text);
      break;
  }
  OUTRIDER_CHECK(check(info, value));
  return value;
}

std::string to_text(const FieldValue& value) { return std::visit(Shown(), value); }
std::string to_text(const OptionValue& value) { return std::visit(Shown(), value); }

std::string shown(const FieldInfo& info, const FieldValue& value) {
  if (info.attributes.secret && !std::holds_alternative<std::monostate>(value)) return "***";
  return to_text(value);
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  if (word.size() > 64) return {};  // no one mistypes that much, and the table is quadratic
  const size_t limit = std::clamp<size_t>(word.size() / 3, 1, 3);
  size_t best = limit + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    const size_t here = distance(word, candidate);
    if (here < best) {
      best = here;
      found = candidate;
    }
  }
  return found;
}

}  // namespace outrider::config
