#include "config/fault.hpp"

#include <algorithm>
#include <cctype>

namespace outrider::config {
namespace {

constexpr int kExcerptBefore = 60, kExcerptAfter = 50;  // characters around the caret

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

std::string_view line_of(std::string_view text, int line) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (int at = 1; at < line; ++at) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

// The line up to and including the = of the first sensitive key; npos when it has none.
size_t secret_start(std::string_view line) {
  for (size_t at = 0; at < line.size();) {
    if (!is_word(line[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < line.size() && is_word(line[end])) ++end;
    if (is_sensitive(line.substr(at, end - at))) {
      const size_t after = line.find_first_not_of(" \t\"'", end);
      if (after != std::string_view::npos && line[after] == '=') return after + 1;
    }
    at = end;
  }
  return std::string_view::npos;
}

}  // namespace

bool is_sensitive(std::string_view key) {
  const auto all = fields();
  if (std::any_of(all.begin(), all.end(), [&](const FieldInfo& info) { return info.attributes.secret && info.key == key; })) return true;
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view end : {"api_key", "apikey", "secret", "password", "auth_token", "access_token"}) {
    if (lower.ends_with(end)) return true;
  }
  return false;
}

bool mentions_secret(std::string_view text) { return secret_start(text) != std::string_view::npos; }

void add_excerpt(Fault& fault, std::string_view file_text) {
  const std::string_view line = line_of(file_text, fault.origin.line);
  const size_t secret = secret_start(line);
  const std::string_view visible = line.substr(0, std::min(secret, line.size()));

  // Cut and clean by characters; a byte that is no UTF-8 and a control character become '?'.
  std::vector<std::string> characters;
  for (size_t i = 0; i < visible.size();) {
    const auto lead = static_cast<unsigned char>(visible[i]);
    const size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 0;
    bool good = length != 0 && i + length <= visible.size() && lead != 0x7f;
    for (size_t k = 1; good && k < length; ++k) good = (static_cast<unsigned char>(visible[i + k]) & 0xC0) == 0x80;
    if (lead == '\t') {
      characters.emplace_back(" ");
    } else if (!good || lead < 0x20) {
      characters.emplace_back("?");
    } else {
      characters.emplace_back(visible.substr(i, length));
    }
    i += good ? length : 1;
  }
  if (secret != std::string_view::npos) characters.emplace_back(" ***");

  const int count = static_cast<int>(characters.size());
  const int column = std::clamp(fault.origin.column, 1, count + 1);
  const int begin = std::max(0, column - 1 - kExcerptBefore), end = std::min(count, column - 1 + kExcerptAfter);
  fault.source_line = begin > 0 ? "…" : "";
  for (int i = begin; i < end; ++i) fault.source_line += characters[static_cast<size_t>(i)];
  if (end < count) fault.source_line += "…";
  fault.caret = column - begin + (begin > 0 ? 1 : 0);
}

std::string Fault::text() const {
  std::string text = origin.line == 0 && origin.kind == Origin::Kind::file ? origin.where : origin.text();
  text += ": " + message;
  if (caret > 0) {
    const std::string number = std::to_string(origin.line);
    text += "\n  " + number + " | " + source_line;
    text += "\n  " + std::string(number.size(), ' ') + " | " + std::string(static_cast<size_t>(caret - 1), ' ') + '^';
  }
  if (!hint.empty()) text += "\n  " + hint;
  return text;
}

std::string did_you_mean(const std::string& candidate) { return candidate.empty() ? "" : "did you mean '" + candidate + "'?"; }

}  // namespace outrider::config
