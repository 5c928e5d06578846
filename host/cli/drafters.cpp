// `outrider drafters`: every plugin the configuration can reach, whether it can be loaded, and why not.

#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/jsonl.hpp"
#include "cli/session.hpp"
#include "cli/terminal.hpp"
#include "drafting/draft_host.hpp"

namespace outrider::cli {
namespace {

constexpr const char* kDraftersFooter =
    "Plugins come from the [drafter.NAME] tables and from the folders in [plugins] paths. Each is looked at in a process of its own.\n"
    "Examples:\n"
    "  outrider drafters\n"
    "  outrider drafters --json --set plugins.paths=/opt/drafters";

struct DraftersOptions {
  config::CommandLine configuration;
  bool json = false;
};

Json as_json(const drafting::DiscoveredPlugin& plugin) {
  return {{"name", plugin.name},       {"library", plugin.library},   {"id", plugin.id},
          {"version", plugin.version},  {"loadable", plugin.loadable},
          {"why_not", plugin.loadable ? Json(nullptr) : Json(plugin.why_not)}};
}

int drafters(const DraftersOptions& options) {
  auto args = load_configuration(options.configuration);
  if (!args.ok()) return fail(args.error(), kUsage);
  const std::vector<drafting::DiscoveredPlugin> plugins = drafting::discover(**args);
  if (options.json) {
    Json list = Json::array();
    for (const drafting::DiscoveredPlugin& plugin : plugins) list.push_back(as_json(plugin));
    print(to_line(list) + "\n");
    return kOk;
  }
  if (plugins.empty()) {
    print("no drafters found; put a plugin's folder into [plugins] paths, or its file into [drafter.NAME] library\n");
    return kOk;
  }
  size_t width = 4;
  for (const drafting::DiscoveredPlugin& plugin : plugins) width = std::max(width, plugin.name.size());
  print(fmt::format("{:{}}  {:10}  {:8}  {}\n", "NAME", width, "VERSION", "LOADABLE", "LIBRARY"));
  for (const drafting::DiscoveredPlugin& plugin : plugins) {
    print(fmt::format("{:{}}  {:10}  {:8}  {}\n", plugin.name, width, plugin.version.empty() ? "-" : plugin.version,
                      plugin.loadable ? "yes" : "no", plugin.library));
    if (!plugin.loadable) print(fmt::format("{:{}}  {}\n", "", width, plugin.why_not));
  }
  return kOk;
}

}  // namespace

void add_drafters(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<DraftersOptions>();
  CLI::App* command = app.add_subcommand("drafters", "List the drafters that are found, and why one cannot be used");
  command->footer(kDraftersFooter);
  command->add_flag("--json", options->json, "Print a JSON list");
  config::add_options(*command, options->configuration, {config::Namespace::spec});
  command->callback([options, &chosen] { chosen = [options] { return drafters(*options); }; });
}

}  // namespace outrider::cli
