// The command line's side of the field table, and the environment.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "config/load.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace outrider::config {
namespace {

std::string describe(const FieldInfo& info) {
  std::string text(info.attributes.help);
  const std::string initial = to_text(get(Namespaces{}, info.id));
  if (initial != "unset") text += " [" + initial + ']';
  return text;
}

void add_field(CLI::App& app, CommandLine& line, const FieldInfo& info) {
  const std::string option = info.option();
  CLI::Option* added = nullptr;
  if (info.type == FieldType::boolean) {
    const std::string negated = "--no-" + option.substr(2);
    added = app.add_flag_function(
        option + ",!" + negated,
        [&line, path = info.path, option, negated](int64_t count) {
          line.items.push_back({path, count > 0 ? "true" : "false", count > 0 ? option : negated});
        },
        describe(info));
  } else {
    added = app.add_option_function<std::string>(
        option,
        [&line, path = info.path, option](const std::string& value) {
          line.items.push_back({path, value, option});
        },
        describe(info));
    std::string values;
    for (const std::string_view choice : info.choices()) values += (values.empty() ? "" : "|") + std::string(choice);
    if (values.empty()) values = info.type == FieldType::integer ? "N" : "TEXT";
    added->type_name(values)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  added->trigger_on_parse()->group("Configuration: [" + std::string(info.space_name) + "]");
}

}  // namespace

void add_options(CLI::App& app, CommandLine& line, const std::vector<Namespace>& spaces) {
  app.add_option_function<std::string>(
         "--config", [&line](const std::string& file) { line.files.push_back(file); }, "A TOML file; may be given again, the later wins")
      ->type_name("FILE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->trigger_on_parse()
      ->group("Configuration");
  app.add_option_function<std::string>(
         "--set",
         [&line](const std::string& item) {
           const size_t equals = item.find('=');
           if (equals == 0 || equals == std::string::npos) {
             throw CLI::ValidationError("--set", "expected KEY=VALUE, as in spec.draft_tokens=4, found '" + item + "'");
           }
           line.items.push_back({item.substr(0, equals), item.substr(equals + 1), "--set " + item.substr(0, equals)});
         },
         "Set any key, also drafter.NAME.KEY; may be given again")
      ->type_name("KEY=VALUE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->trigger_on_parse()
      ->group("Configuration");
  for (const FieldInfo& info : fields()) {
    const bool wanted = spaces.empty() || std::find(spaces.begin(), spaces.end(), info.space) != spaces.end();
    if (wanted && !info.attributes.secret) add_field(app, line, info);
  }
}

Environment process_environment() {
  Environment variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry(*at);
    const size_t equals = entry.find('=');
    if (entry.starts_with("OUTRIDER_") && equals != std::string_view::npos) {
      variables.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    }
  }
  return variables;
}

}  // namespace outrider::config
