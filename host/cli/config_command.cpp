// `outrider config`: what the configuration is, whether it is right, and how each value came about. The texts are config/report's.

#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/session.hpp"
#include "cli/terminal.hpp"
#include "config/draft_copy.hpp"
#include "config/report.hpp"
#include "drafting/draft_host.hpp"
#include "formats/gguf.hpp"
#include "model/architecture.hpp"

namespace outrider::cli {
namespace {

struct ConfigOptions {
  config::CommandLine line;
  std::vector<std::string> names;  // files for check and show, fields for explain, two files for diff
  bool json = false;
  std::string draft;  // explain: the drafter whose copy is shown; empty: the target's configuration
  [[nodiscard]] config::Format format() const { return json ? config::Format::json : config::Format::text; }
};

// Files given as arguments stand beside those of --config, after them.
config::CommandLine with_files(config::CommandLine line, const std::vector<std::string>& files) {
  line.files.insert(line.files.end(), files.begin(), files.end());
  return line;
}

int check(const ConfigOptions& options) {
  std::ostringstream out;
  const config::Sources sources{.command_line = with_files(options.line, options.names), .environment = config::process_environment()};
  const int status = config::write_check(out, config::load_all(sources), options.format());
  print(out.str());
  return status == 0 ? kOk : kUsage;
}

int show(const ConfigOptions& options) {
  auto args = load_configuration(with_files(options.line, options.names));
  if (!args.ok()) return fail(args.error(), kUsage);
  std::ostringstream out;
  config::write_show(out, **args, options.format());
  print(out.str());
  return kOk;
}

// The configuration a drafter would be built under, for the configured target. Reads the target's header, no weights.
Result<std::shared_ptr<const config::ServerArgs>> draft_copy(std::shared_ptr<const config::ServerArgs> args) {
  OUTRIDER_TRY(const std::string path, scheduler::find_model(args->values().model.path));
  OUTRIDER_TRY(const formats::GgufFile file, formats::GgufFile::open(path));
  OUTRIDER_TRY(const model::Architecture architecture, model::read_architecture(file));
  config::RuntimeContext context;
  OUTRIDER_CHECK(context.publish(args, config::Role::launcher));
  OUTRIDER_CHECK(scheduler::record_load_decisions(context, architecture.context_length));
  return config::draft_args_copy(context, {.context_length = context.get_model().context_length});
}

int explain(const ConfigOptions& options) {
  auto args = load_configuration(options.line);
  if (!args.ok()) return fail(args.error(), kUsage);
  std::optional<config::ExplainedDrafter> drafter;
  if (!options.draft.empty()) {
    auto library = drafting::find_drafter(**args, options.draft);
    if (!library.ok()) return fail(library.error(), kUsage);
    drafter = {options.draft, *std::move(library)};
    args = draft_copy(*args);
    if (!args.ok()) return fail(args.error());
  }
  std::ostringstream out;
  const Result<void> written = config::write_explain(out, **args, options.names, options.format(), drafter);
  print(out.str());
  return written.ok() ? static_cast<int>(kOk) : fail(written.error(), kUsage);
}

int diff(const ConfigOptions& options) {
  auto from = load_configuration(with_files(options.line, {options.names[0]}));
  if (!from.ok()) return fail(from.error(), kUsage);
  auto to = load_configuration(with_files(options.line, {options.names[1]}));
  if (!to.ok()) return fail(to.error(), kUsage);
  std::ostringstream out;
  config::write_diff(out, **from, **to, options.format());
  print(out.str());
  return kOk;
}

// One of `outrider config`'s own subcommands; all take the same configuration options.
CLI::App* add(CLI::App& config_command, const char* name, const char* help, const std::shared_ptr<ConfigOptions>& options, Command& chosen,
              std::function<int(const ConfigOptions&)> run) {
  CLI::App* command = config_command.add_subcommand(name, help);
  command->callback([options, run, &chosen] { chosen = [options, run] { return run(*options); }; });
  return command;
}

}  // namespace

void add_config(CLI::App& app, Command& chosen) {
  CLI::App* command = app.add_subcommand("config", "Check, show and explain the configuration");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n"
      "  outrider config check outrider.toml\n"
      "  outrider config show --config a.toml --config b.toml --set spec.draft_tokens=4\n"
      "  outrider config explain spec.draft_tokens\n"
      "  outrider config explain --draft NAME memory.kv_type\n"
      "  outrider config diff old.toml new.toml\n"
      "  outrider config schema > outrider.schema.json");
  const auto options = [] { return std::make_shared<ConfigOptions>(); };
  const auto with_options = [](CLI::App* sub, const std::shared_ptr<ConfigOptions>& values) {
    sub->add_flag("--json", values->json, "Print JSON");
    config::add_options(*sub, values->line);
  };

  auto values = options();
  CLI::App* sub = add(*command, "check", "Say every fault of the configuration, with its place", values, chosen, check);
  sub->add_option("files", values->names, "TOML files");
  with_options(sub, values);

  values = options();
  sub = add(*command, "show", "Print the effective values, each with where it came from", values, chosen, show);
  sub->add_option("files", values->names, "TOML files");
  with_options(sub, values);

  values = options();
  sub = add(*command, "explain", "Print every step on a value's way", values, chosen, explain);
  sub->add_option("fields", values->names, "Fields, as spec.draft_tokens; without any: all that are not at their default");
  sub->add_option("--draft", values->draft, "Explain the copy this drafter would be built under, and its own options")->type_name("NAME");
  with_options(sub, values);

  values = options();
  sub = add(*command, "diff", "Print what changes from one file to another, and what of it needs a restart", values, chosen, diff);
  sub->add_option("files", values->names, "Two TOML files")->expected(2)->required();
  with_options(sub, values);

  add(*command, "schema", "Print the JSON Schema of the TOML file", options(), chosen, [](const ConfigOptions&) {
    print(config::json_schema() + "\n");
    return static_cast<int>(kOk);
  });
  add(*command, "reference", "Print the reference page of all settings, in Markdown", options(), chosen, [](const ConfigOptions&) {
    print(config::markdown_reference());
    return static_cast<int>(kOk);
  });
}

}  // namespace outrider::cli
