// One TOML file against the field table: the settings it makes, the plugins' tables, and everything that is wrong with it. The only
// place that knows toml++. Types are exact: 3.0 is no integer and 1 is no boolean.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/fault.hpp"
#include "config/server_args.hpp"

namespace outrider::config {

struct FileContents {
  std::vector<Write> settings;
  std::optional<std::vector<std::string>> plugin_paths;
  Origin plugin_paths_origin;
  std::vector<DrafterTable> drafters;
  std::vector<Fault> faults;  // in the file's order
};

Result<std::string> read_file(const std::string& name);  // at most 16 MiB
FileContents read_toml(const std::string& name, std::string_view text);

// A plugin option given as text: read as TOML where it is a value of TOML that a plugin can be given, else taken as the text it is.
OptionValue parse_option(std::string_view text);

}  // namespace outrider::config
