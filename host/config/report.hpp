// What `outrider config` prints: the effective values with their origins, the way each value came about, the difference between two
// configurations, the schema, and the reference page. All are generated from the field table. Secrets print as ***.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/load.hpp"
#include "config/server_args.hpp"

namespace outrider::config {

enum class Format { text, json };

// `config check`: every fault, or "configuration is good"; returns the exit status, 0 or 1.
int write_check(std::ostream& out, const LoadOutcome& outcome, Format format);

// `config show`: as TOML with each origin in a comment, so that the text can be used as a file again; or as JSON.
void write_show(std::ostream& out, const ServerArgs& args, Format format);

// The drafter that `config explain --draft NAME` is about.
struct ExplainedDrafter {
  std::string name;
  std::string library;  // the file found for it; empty: none
};

// `config explain [FIELD…]`: every step of each field's way to its value. No names: every field that is not at its default. For
// `--draft`, give it the draft's copy and the drafter, whose own options follow. An unknown name is an error with the nearest one.
Result<void> write_explain(std::ostream& out, const ServerArgs& args, const std::vector<std::string>& names, Format format,
                           const std::optional<ExplainedDrafter>& drafter = std::nullopt);

// `config diff`: what changes from one to the other; which of it needs a restart, which takes effect on reload.
void write_diff(std::ostream& out, const ServerArgs& from, const ServerArgs& to, Format format);

std::string json_schema();         // `config schema`: JSON Schema draft 7 for the TOML file; no newline at the end
std::string markdown_reference();  // docs/configuration.md

}  // namespace outrider::config
