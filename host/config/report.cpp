#include "config/report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <type_traits>

#include "config/fault.hpp"

namespace outrider::config {
namespace {

using Json = nlohmann::ordered_json;

const char* kind_name(Origin::Kind kind) {
  static constexpr const char* kNames[] = {"default", "file", "environment", "option", "pass", "override", "draft_copy"};
  return kNames[static_cast<size_t>(kind)];
}

Json json_of(const Origin& origin) {
  Json json{{"kind", kind_name(origin.kind)}, {"text", origin.text()}};
  if (!origin.where.empty()) json["where"] = origin.where;
  if (origin.line > 0) json["line"] = origin.line, json["column"] = origin.column;
  return json;
}

Json json_of(const FieldInfo& info, const FieldValue& value) {
  if (info.attributes.secret && !std::holds_alternative<std::monostate>(value)) return "***";
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return nullptr;
        } else {
          return held;
        }
      },
      value);
}

Json json_of(const PluginOption& option) {
  if (is_sensitive(option.key)) return "***";
  return std::visit([](const auto& held) -> Json { return held; }, option.value);
}

// Names and file names may hold bytes that are no UTF-8; they are replaced rather than refused.
void print(std::ostream& out, const Json& json) { out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n'; }

bool is_bare_key(std::string_view key) {
  return !key.empty() &&
         key.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos;
}

std::string toml_string(const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }
std::string toml_key(const std::string& key) { return is_bare_key(key) ? key : toml_string(key); }

// Whole, unlike to_text(): this output is read again as a file.
std::string toml_value(const OptionValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return toml_string(*text);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    std::string list = "[";
    for (size_t i = 0; i < texts->size(); ++i) list += (i == 0 ? "" : ", ") + toml_string((*texts)[i]);
    return list + ']';
  }
  return to_text(value);
}

std::string toml_value(const FieldInfo& info, const FieldValue& value) {
  if (const auto* text = std::get_if<std::string>(&value); text != nullptr && !info.attributes.secret) return toml_string(*text);
  return shown(info, value);
}

std::string one_line(std::string text) {  // an origin names files, and a comment must not end early
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = '?';
  }
  return text;
}

void write_line(std::ostream& out, const std::string& setting, const Origin& origin) {
  out << setting << std::string(setting.size() < 48 ? 48 - setting.size() : 1, ' ') << "# " << one_line(origin.text()) << '\n';
}

void write_drafter(std::ostream& out, const DrafterTable& table) {
  out << "\n[drafter." << toml_key(table.name) << "]\n";
  if (table.library) write_line(out, "library = " + toml_string(*table.library), table.library_origin);
  for (const PluginOption& option : table.options) {
    const bool hidden = is_sensitive(option.key);
    write_line(out, (hidden ? "# " : "") + toml_key(option.key) + " = " + (hidden ? "***" : toml_value(option.value)), option.origin);
  }
  if (table.corpora.empty()) return;
  out << "\n[drafter." << toml_key(table.name) << ".corpora]\n";
  for (const Corpus& corpus : table.corpora) write_line(out, toml_key(corpus.name) + " = " + toml_string(corpus.file), corpus.origin);
}

Json json_of(const DrafterTable& table) {
  Json json = Json::object();
  if (table.library) json["library"] = {{"value", *table.library}, {"origin", json_of(table.library_origin)}};
  json["options"] = Json::object();
  for (const PluginOption& option : table.options)
    json["options"][option.key] = {{"value", json_of(option)}, {"origin", json_of(option.origin)}};
  json["corpora"] = Json::object();
  for (const Corpus& corpus : table.corpora) json["corpora"][corpus.name] = {{"value", corpus.file}, {"origin", json_of(corpus.origin)}};
  return json;
}

Json drafters_json(const ServerArgs& args) {
  Json drafters = Json::object();
  for (const DrafterTable& table : args.drafters) drafters[table.name] = json_of(table);
  return drafters;
}

// The drafter's part of `config explain --draft`. A setting of its own has one source: the last that gave it.
void write_drafter_settings(std::ostream& out, const ExplainedDrafter& drafter, const DrafterTable& table) {
  const std::string prefix = "drafter." + toml_key(drafter.name);
  out << '\n' << prefix << ": " << (drafter.library.empty() ? "there is no such library" : one_line(drafter.library)) << '\n';
  const auto write = [&](const std::string& key, const std::string& value, const Origin& origin) {
    out << prefix << '.' << key << " = " << value << "\n  from " << one_line(origin.text()) << ": " << value << '\n';
  };
  if (table.library) write("library", toml_string(*table.library), table.library_origin);
  for (const PluginOption& option : table.options)
    write(toml_key(option.key), is_sensitive(option.key) ? "***" : toml_value(option.value), option.origin);
  for (const Corpus& corpus : table.corpora) write("corpora." + toml_key(corpus.name), toml_string(corpus.file), corpus.origin);
  if (table.options.empty()) out << "  no option is set: the drafter's own defaults hold\n";
}

struct Change {
  std::string path, from, to, effect;
};

std::vector<Change> changes(const ServerArgs& from, const ServerArgs& to) {
  std::vector<Change> found;
  for (const FieldInfo& info : fields()) {
    const FieldValue before = get(from.values(), info.id), after = get(to.values(), info.id);
    if (before == after) continue;
    const bool hidden = info.attributes.secret;
    found.push_back({info.path, shown(info, before),
                     hidden && !std::holds_alternative<std::monostate>(after) ? "*** (another)" : shown(info, after),
                     info.attributes.reloadable ? "reload" : "restart"});
  }
  for (const std::string& path : plugin_changes(from, to)) {
    if (path == "plugins.paths") {
      found.push_back({path, toml_value(OptionValue(from.plugin_paths)), toml_value(OptionValue(to.plugin_paths)), "restart"});
      continue;
    }
    const std::string name = path.substr(std::string_view("drafter.").size());
    found.push_back(
        {path, from.drafter(name) == nullptr ? "absent" : "one table", to.drafter(name) == nullptr ? "absent" : "another", "restart"});
  }
  return found;
}

}  // namespace

int write_check(std::ostream& out, const LoadOutcome& outcome, Format format) {
  if (format == Format::json) {
    Json faults = Json::array();
    for (const Fault& fault : outcome.faults) {
      faults.push_back({{"origin", json_of(fault.origin)},
                        {"message", fault.message},
                        {"source_line", fault.source_line},
                        {"caret", fault.caret},
                        {"hint", fault.hint}});
    }
    print(out, {{"ok", outcome.faults.empty()}, {"faults", faults}});
  } else {
    for (const Fault& fault : outcome.faults) out << fault.text() << '\n';
    if (outcome.faults.empty()) {
      out << "the configuration is good\n";
    } else {
      out << outcome.faults.size() << (outcome.faults.size() == 1 ? " fault\n" : " faults\n");
    }
  }
  return outcome.faults.empty() ? 0 : 1;
}

void write_show(std::ostream& out, const ServerArgs& args, Format format) {
  if (format == Format::json) {
    Json values = Json::object();
    for (const FieldInfo& info : fields()) {
      const Step& step = args.step(info.id);
      values[std::string(info.space_name)][std::string(info.key)] = {{"value", json_of(info, step.value)},
                                                                     {"origin", json_of(step.origin)}};
    }
    print(out, {{"values", values},
                {"plugins", {{"paths", {{"value", args.plugin_paths}, {"origin", json_of(args.plugin_paths_origin)}}}}},
                {"drafters", drafters_json(args)}});
    return;
  }
  const NamespaceInfo* space = nullptr;
  for (const FieldInfo& info : fields()) {
    if (space == nullptr || space->space != info.space) {
      out << (space == nullptr ? "" : "\n");
      space = find_namespace(info.space_name);
      out << "[" << space->name << "]\n";
    }
    const Step& step = args.step(info.id);
    // What TOML cannot say (absent) or must not (a secret) stays a comment.
    const bool commented = info.attributes.secret || std::holds_alternative<std::monostate>(step.value);
    write_line(out, (commented ? "# " : "") + std::string(info.key) + " = " + toml_value(info, step.value), step.origin);
  }
  out << "\n[plugins]\n";
  write_line(out, "paths = " + toml_value(OptionValue(args.plugin_paths)), args.plugin_paths_origin);
  for (const DrafterTable& table : args.drafters) write_drafter(out, table);
}

Result<void> write_explain(std::ostream& out, const ServerArgs& args, const std::vector<std::string>& names, Format format,
                           const std::optional<ExplainedDrafter>& drafter) {
  std::vector<const FieldInfo*> wanted;
  for (const std::string& name : names) {
    wanted.push_back(find_field(name));
    if (wanted.back() != nullptr) continue;
    std::vector<std::string> known;
    for (const FieldInfo& info : fields()) known.push_back(name.find('.') == std::string::npos ? std::string(info.key) : info.path);
    const std::string near = nearest(name, known);
    return Error{"config explain: there is no field '" + name + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?")};
  }
  if (names.empty()) {
    for (const FieldInfo& info : fields()) {
      if (args.history(info.id).size() > 1) wanted.push_back(&info);
    }
  }
  Json json = Json::object();
  for (const FieldInfo* info : wanted) {
    const std::vector<Step>& history = args.history(info->id);
    if (format == Format::json) {
      Json steps = Json::array();
      for (const Step& step : history) steps.push_back({{"value", json_of(*info, step.value)}, {"origin", json_of(step.origin)}});
      json[info->path] = {{"value", json_of(*info, history.back().value)}, {"steps", steps}};
      continue;
    }
    out << info->path << " = " << shown(*info, history.back().value) << '\n';
    for (size_t i = history.size(); i-- > 0;) {  // what is in force first
      out << (i + 1 == history.size() ? "  from " : "  over ") << one_line(history[i].origin.text()) << ": "
          << shown(*info, history[i].value) << '\n';
    }
  }
  if (drafter) {
    const DrafterTable* configured = args.drafter(drafter->name);
    const DrafterTable table = configured != nullptr ? *configured : DrafterTable();
    if (format == Format::json) {
      Json& shown_table = json["drafter." + drafter->name] = json_of(table);
      shown_table["found_at"] = drafter->library.empty() ? Json(nullptr) : Json(drafter->library);
    } else {
      write_drafter_settings(out, *drafter, table);
    }
  }
  if (format == Format::json) print(out, json);
  if (format == Format::text && wanted.empty() && !drafter) out << "every field has its default\n";
  return {};
}

void write_diff(std::ostream& out, const ServerArgs& from, const ServerArgs& to, Format format) {
  const std::vector<Change> found = changes(from, to);
  if (format == Format::json) {
    Json list = Json::array();
    for (const Change& change : found)
      list.push_back({{"field", change.path}, {"from", change.from}, {"to", change.to}, {"takes_effect", change.effect}});
    print(out, {{"changes", list}});
    return;
  }
  for (const Change& change : found) {
    out << change.path << ": " << change.from << " -> " << change.to
        << (change.effect == "reload" ? "  (on reload)" : "  (needs a restart)") << '\n';
  }
  if (found.empty()) out << "no difference\n";
}

}  // namespace outrider::config
