// From files, environment and command line to ServerArgs. Precedence, low to high: defaults, TOML files in order, environment, command
// line, then the resolution passes, each recorded. All faults of all sources come in one report; any fault means no ServerArgs.
//
//   CommandLine line;  add_options(app, line);  CLI11_PARSE(app, …)
//   Result<ServerArgs> args = load({.command_line = line, .environment = process_environment()});
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "config/fault.hpp"
#include "config/server_args.hpp"

namespace CLI {
class App;
}

namespace outrider::config {

struct CommandLine {
  std::vector<std::string> files = {};  // --config a.toml --config b.toml
  struct Item {
    std::string target;  // "spec.draft_tokens", "draft_tokens", "drafter.NAME.key" or "plugins.paths"
    std::string value;
    std::string option;  // as given, for messages: "--draft-tokens"
  };
  std::vector<Item> items = {};  // in the order given; of two for one field the later wins
};

// --config, --set KEY=VALUE and one option for each field of `spaces` (all when empty) that is not secret. `line` must outlive the parse.
void add_options(CLI::App& app, CommandLine& line, const std::vector<Namespace>& spaces = {});

// A resolution pass sees what has been resolved so far and says what to set. Its name is the recorded source.
struct ResolutionPass {
  std::string name;
  std::function<std::vector<Assignment>(const ServerArgs&)> resolve;
};
std::vector<ResolutionPass> standard_passes();

using Environment = std::vector<std::pair<std::string, std::string>>;
Environment process_environment();  // the variables that begin with OUTRIDER_

struct Sources {
  CommandLine command_line = {};
  Environment environment = {};
  std::vector<ResolutionPass> passes = standard_passes();
};

struct LoadOutcome {
  std::optional<ServerArgs> args;  // present exactly when there are no faults
  std::vector<Fault> faults;
};

LoadOutcome load_all(const Sources& sources);
Result<ServerArgs> load(const Sources& sources);  // the error is every fault's text

}  // namespace outrider::config
