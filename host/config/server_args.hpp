// The resolved start-up record: each field's value and where it came from, and the plugins' own tables. A value; once published
// it is only read. Plugin options are kept as they were written, with their places: the plugin's own schema judges them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "config/fields.hpp"

namespace outrider::config {

struct Origin {
  enum class Kind : uint8_t {
    default_value,
    file,         // where: the file's name
    environment,  // where: the variable
    option,       // where: the option as given, "--set spec.draft_tokens"
    pass,         // where: the resolution pass
    override_,    // where: the override's source
    draft_copy,   // where: the step of the draft copy
  };
  Kind kind = Kind::default_value;
  std::string where = {};
  int line = 0, column = 0;  // from 1; files only

  [[nodiscard]] std::string text() const;  // "a.toml:3:5", "default", "OUTRIDER_ISA", "override kv-gate", …
  bool operator==(const Origin&) const = default;
};

// One step of a field's way to its value. A field's history begins with its default; the last step is in force.
struct Step {
  Origin origin;
  FieldValue value;
};

// One value to be written, and where it comes from.
struct Write {
  Write(Origin from, std::string to, FieldValue what) : origin(std::move(from)), field(std::move(to)), value(std::move(what)) {}
  Origin origin;
  std::string field;  // path or key
  FieldValue value;
};

struct PluginOption {
  std::string key;
  OptionValue value;
  Origin origin;
};

struct Corpus {
  std::string name;
  std::string file;
  Origin origin;
};

struct DrafterTable {
  std::string name;  // NAME of [drafter.NAME]
  Origin origin;
  std::optional<std::string> library;  // as written; a file name or path
  Origin library_origin;
  std::vector<PluginOption> options;  // in the order written
  std::vector<Corpus> corpora;        // [drafter.NAME.corpora] name = "file"
};

// The same settings, wherever they come from; options and corpora in any order.
bool equal_settings(const DrafterTable& a, const DrafterTable& b);

class ServerArgs {
 public:
  ServerArgs();  // every field at its default

  [[nodiscard]] const Namespaces& values() const { return values_; }
  [[nodiscard]] const Step& step(FieldId id) const { return history(id).back(); }
  [[nodiscard]] const std::vector<Step>& history(FieldId id) const { return history_[static_cast<size_t>(id)]; }

  std::vector<std::string> plugin_paths;  // [plugins] paths
  Origin plugin_paths_origin;
  std::vector<DrafterTable> drafters;  // in the order first seen
  [[nodiscard]] const DrafterTable* drafter(std::string_view name) const;

  // A copy with the writes made in order, each value checked; all or none. Resolution and the draft copy use it; the object itself
  // never changes. After publication the way to change a value is RuntimeContext::override.
  [[nodiscard]] Result<ServerArgs> derive(const std::vector<Write>& writes) const;

 private:
  Namespaces values_;
  std::vector<std::vector<Step>> history_;
};

// What differs outside the fields: "plugins.paths" and "drafter.NAME" for each such table.
std::vector<std::string> plugin_changes(const ServerArgs& from, const ServerArgs& to);

}  // namespace outrider::config
