#include "config/load.hpp"

#include <algorithm>
#include <map>
#include <thread>

#include "config/toml_reader.hpp"

namespace outrider::config {
namespace {

class Loader {
 public:
  explicit Loader(const Sources& sources) : sources_(sources) {}

  LoadOutcome load() {
    for (const std::string& file : sources_.command_line.files) add_file(file);
    add_environment();
    for (const CommandLine::Item& item : sources_.command_line.items) add_item(item);
    run_passes();
    add_contradictions();
    LoadOutcome outcome;
    outcome.faults = std::move(faults_);
    if (outcome.faults.empty()) outcome.args = std::move(args_);
    return outcome;
  }

 private:
  void fault(Origin origin, std::string message, std::string hint = {}, std::vector<FieldId> about = {}) {
    faults_.push_back({std::move(origin), std::move(message), {}, 0, std::move(hint), std::move(about)});
  }

  void write(const std::vector<Write>& writes) {
    Result<ServerArgs> next = args_.derive(writes);
    if (!next) {
      fault(writes.front().origin, next.error().message);
      return;
    }
    args_ = *std::move(next);
  }

  void add_file(const std::string& name) {
    Result<std::string> text = read_file(name);
    if (!text) {
      fault({Origin::Kind::file, name}, text.error().message);
      return;
    }
    FileContents contents = read_toml(name, *text);
    texts_[name] = *std::move(text);
    write(contents.settings);
    if (contents.plugin_paths) {
      args_.plugin_paths = *std::move(contents.plugin_paths);
      args_.plugin_paths_origin = contents.plugin_paths_origin;
    }
    for (DrafterTable& table : contents.drafters) merge(std::move(table));
    std::move(contents.faults.begin(), contents.faults.end(), std::back_inserter(faults_));
  }

  DrafterTable& drafter(const std::string& name, const Origin& origin) {
    for (DrafterTable& table : args_.drafters) {
      if (table.name == name) return table;
    }
    args_.drafters.emplace_back();
    args_.drafters.back().name = name;
    args_.drafters.back().origin = origin;
    return args_.drafters.back();
  }

  static void put(DrafterTable& table, PluginOption option) {
    for (PluginOption& known : table.options) {
      if (known.key == option.key) {
        known = std::move(option);
        return;
      }
    }
    table.options.push_back(std::move(option));
  }

  static void put(DrafterTable& table, Corpus corpus) {
    for (Corpus& known : table.corpora) {
      if (known.name == corpus.name) {
        known = std::move(corpus);
        return;
      }
    }
    table.corpora.push_back(std::move(corpus));
  }

  // A later source's table adds to an earlier one's, key by key.
  void merge(DrafterTable from) {
    DrafterTable& into = drafter(from.name, from.origin);
    if (from.library) {
      into.library = std::move(from.library);
      into.library_origin = std::move(from.library_origin);
    }
    for (PluginOption& option : from.options) put(into, std::move(option));
    for (Corpus& corpus : from.corpora) put(into, std::move(corpus));
  }

  void add_environment() {
    std::map<std::string, const FieldInfo*> known;
    std::vector<std::string> names;
    for (const FieldInfo& info : fields()) {
      known[info.environment()] = &info;
      if (!info.attributes.environment.empty()) known[std::string(info.attributes.environment)] = &info;
    }
    for (const auto& [name, info] : known) names.push_back(name);
    std::map<FieldId, Write> seen;  // in the table's order
    for (const auto& [name, value] : sources_.environment) {
      const Origin origin{Origin::Kind::environment, name};
      const auto found = known.find(name);
      if (found == known.end()) {
        // Other parts of the program have variables of their own; one that begins with a namespace can only be meant for us.
        for (const NamespaceInfo& space : namespaces()) {
          if (name.starts_with(field_prefix(space))) fault(origin, "there is no such setting", did_you_mean(nearest(name, names)));
        }
        continue;
      }
      const FieldInfo& info = *found->second;
      Result<FieldValue> parsed = parse(info, value);
      if (!parsed) {
        fault(origin, parsed.error().message, {}, {info.id});
        continue;
      }
      if (const auto other = seen.find(info.id); other != seen.end() && other->second.value != *parsed) {
        fault(origin, info.path + " is also set, to another value, by " + other->second.origin.text(), "set one of the two", {info.id});
        continue;
      }
      seen.insert_or_assign(info.id, Write(origin, info.path, *std::move(parsed)));
    }
    for (const auto& [id, one] : seen) write({one});
  }

  static std::string field_prefix(const NamespaceInfo& space) {
    std::string prefix = "OUTRIDER_" + std::string(space.name) + '_';
    std::transform(prefix.begin(), prefix.end(), prefix.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return prefix;
  }

  void add_item(const CommandLine::Item& item) {
    const Origin origin{Origin::Kind::option, item.option};
    if (item.target == "plugins.paths") {
      OptionValue value = parse_option(item.value);
      if (const auto* paths = std::get_if<std::vector<std::string>>(&value)) {
        args_.plugin_paths = *paths;
      } else {
        args_.plugin_paths = {item.value};
      }
      args_.plugin_paths_origin = origin;
      return;
    }
    if (item.target.starts_with("drafter.")) {
      add_drafter_item(item, origin);
      return;
    }
    const FieldInfo* info = find_field(item.target);
    if (info == nullptr) {
      std::vector<std::string> names{"plugins.paths"};
      for (const FieldInfo& known : fields())
        names.push_back(item.target.find('.') == std::string::npos ? std::string(known.key) : known.path);
      fault(origin, "unknown key '" + item.target + "'", did_you_mean(nearest(item.target, names)));
      return;
    }
    if (info->attributes.secret) {
      fault(origin, info->path + " is a secret, and every user of this machine can read a command line",
            "set " + info->environment() + " or write it in a file", {info->id});
      return;
    }
    Result<FieldValue> value = parse(*info, item.value);
    if (!value) {
      const auto choices = info->choices();
      fault(origin, value.error().message, did_you_mean(nearest(item.value, std::vector<std::string>(choices.begin(), choices.end()))),
            {info->id});
      return;
    }
    write({Write(origin, info->path, *std::move(value))});
  }

  void add_drafter_item(const CommandLine::Item& item, const Origin& origin) {
    const std::string rest = item.target.substr(8);
    const size_t dot = rest.find('.');
    if (dot == 0 || dot == std::string::npos || dot + 1 == rest.size()) {
      fault(origin, "expected drafter.NAME.KEY, found '" + item.target + "'");
      return;
    }
    const std::string name = rest.substr(0, dot), key = rest.substr(dot + 1);
    if (is_sensitive(key)) {
      fault(origin, item.target + " looks like a secret, and every user of this machine can read a command line", "write it in a file");
      return;
    }
    DrafterTable& table = drafter(name, origin);
    if (key == "library") {
      table.library = item.value;
      table.library_origin = origin;
    } else if (key.starts_with("corpora.") && key.size() > 8) {
      put(table, Corpus{key.substr(8), item.value, origin});
    } else if (key == "corpora" || key.find('.') != std::string::npos) {
      fault(origin, "expected drafter.NAME.KEY or drafter.NAME.corpora.CORPUS, found '" + item.target + "'");
    } else {
      put(table, PluginOption{key, parse_option(item.value), origin});
    }
  }

  void run_passes() {
    for (const ResolutionPass& pass : sources_.passes) {
      std::vector<Write> writes;
      for (Assignment& one : pass.resolve(args_))
        writes.emplace_back(Origin{Origin::Kind::pass, pass.name}, std::move(one.field), std::move(one.value));
      if (!writes.empty()) write(writes);
    }
  }

  // A field that has a fault of its own would only be blamed twice.
  void add_contradictions() {
    for (const Contradiction& one : contradictions(args_.values())) {
      const auto blamed = [&](FieldId id) {
        return std::any_of(faults_.begin(), faults_.end(),
                           [&](const Fault& f) { return std::count(f.fields.begin(), f.fields.end(), id) > 0; });
      };
      if (blamed(one.first) || blamed(one.second)) continue;
      const Origin& first = args_.step(one.first).origin;
      const Origin& second = args_.step(one.second).origin;
      const bool second_given = second.kind != Origin::Kind::default_value;
      const Origin& origin = second_given ? second : first;
      Fault added{origin, one.message};
      added.hint = value_and_origin(one.first) + "; " + value_and_origin(one.second);
      if (origin.kind == Origin::Kind::file) add_excerpt(added, texts_[origin.where]);
      faults_.push_back(std::move(added));
    }
  }

  std::string value_and_origin(FieldId id) const {
    const Step& step = args_.step(id);
    return field(id).path + " is " + shown(field(id), step.value) + " (" + step.origin.text() + ')';
  }

  const Sources& sources_;
  ServerArgs args_;
  std::vector<Fault> faults_;
  std::map<std::string, std::string> texts_;  // of the files, for excerpts
};

}  // namespace

std::vector<ResolutionPass> standard_passes() {
  return {{"host-threads", [](const ServerArgs& args) -> std::vector<Assignment> {
             if (args.values().device.threads != 0) return {};
             const unsigned count = std::clamp(std::thread::hardware_concurrency(), 1U, 1024U);
             return {{"device.threads", static_cast<int64_t>(count)}};
           }}};
}

LoadOutcome load_all(const Sources& sources) { return Loader(sources).load(); }

Result<ServerArgs> load(const Sources& sources) {
  LoadOutcome outcome = load_all(sources);
  if (outcome.args) return *std::move(outcome.args);
  std::string report;
  for (const Fault& fault : outcome.faults) {
    if (!report.empty()) report += '\n';
    report += fault.text();
  }
  return Error{std::move(report)};
}

}  // namespace outrider::config
