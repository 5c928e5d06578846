// One thing wrong with a configuration: where, what was expected and found, the source line with a caret, and what to do. Source lines
// are cut around the caret, and what follows a secret's key is never shown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/server_args.hpp"

namespace outrider::config {

struct Fault {
  Origin origin;
  std::string message;               // "expected …, found …"
  std::string source_line = {};      // files: the line, cut around the column; else empty
  int caret = 0;                     // column in source_line, from 1; 0: none
  std::string hint = {};             // what to do: "did you mean 'draft_tokens'?"; may be empty
  std::vector<FieldId> fields = {};  // the fields it is about, when known

  [[nodiscard]] std::string text() const;  // as printed, several lines, no newline at the end
};

// Whether a value under this key must not be shown: a secret field's, or a plugin option's with such a name (password, api_key, …).
bool is_sensitive(std::string_view key);

// Whether a text has a sensitive key with a value, "api_key = …".
bool mentions_secret(std::string_view text);

// Adds the source line at fault.origin to the fault. Columns count characters, from 1.
void add_excerpt(Fault& fault, std::string_view file_text);

// "did you mean 'X'?", or empty.
std::string did_you_mean(const std::string& candidate);

}  // namespace outrider::config
