// The schema and the reference page, generated from the field table.
#include <nlohmann/json.hpp>

#include "config/report.hpp"

namespace outrider::config {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kIntroduction = R"(# Configuration

Generated from the field table (`host/config/field_table.hpp`) by `outrider config reference`; a test fails when the two differ.

A setting comes, later ones winning, from: its default; TOML files in the order of `--config a.toml --config b.toml`; an environment
variable; the command line (`--set spec.draft_tokens=4`, or the option named below). `outrider config check` judges a
configuration and names every fault with its place, `outrider config show` prints the values in force with their origins,
`outrider config explain FIELD` the way a value came about (`--draft NAME`: in the copy that drafter is built under), `outrider config schema` a JSON Schema for editors.

An unknown key is an error. A setting whose default is *unset* is absent until it is given; in an environment variable or after
`--set` the word `unset` makes it absent again. *Reload*: the setting may change while requests run; any other change needs a
restart. *Draft*: a draft model's configuration may have a value of its own; else it has the target's.
)";

constexpr const char* kPlugins = R"(
## [plugins] and [drafter.NAME]

```toml
[plugins]
paths = ["/opt/drafters"]        # folders searched for plugins, besides the one that comes with Outrider

[drafter.mine]                   # chosen by [spec] algorithm = "mine"
library = "libmine.so"           # a file in one of the folders, or a path
max_n = 5                        # any other key is an option of the plugin, which says what it takes

[drafter.mine.corpora]           # for drafters that take corpora
law = "/data/law.txt"
```

An option is a boolean, an integer, a finite number, a text or an array of texts. `--set drafter.mine.max_n=5` sets one from the
command line.
)";

Json schema_of(const FieldInfo& info) {
  Json json{{"description", std::string(info.attributes.help)}};
  switch (info.type) {
    case FieldType::boolean:
      json["type"] = "boolean";
      break;
    case FieldType::integer:
      json["type"] = "integer";
      json["minimum"] = info.attributes.min;
      json["maximum"] = info.attributes.max;
      break;
    case FieldType::text:
      json["type"] = "string";
      json["minLength"] = 1;
      if (const auto choices = info.choices(); !choices.empty()) json["enum"] = std::vector<std::string>(choices.begin(), choices.end());
      break;
  }
  const FieldValue initial = get(Namespaces{}, info.id);
  if (const auto* value = std::get_if<bool>(&initial)) json["default"] = *value;
  if (const auto* value = std::get_if<int64_t>(&initial)) json["default"] = *value;
  if (const auto* value = std::get_if<std::string>(&initial)) json["default"] = *value;
  if (info.attributes.secret) json["writeOnly"] = true;
  return json;
}

Json object(Json properties) { return {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}}; }

std::string values_of(const FieldInfo& info) {
  std::string text;
  for (const std::string_view choice : info.choices()) text += (text.empty() ? "`" : ", `") + std::string(choice) + '`';
  if (!text.empty()) return text;
  if (info.type == FieldType::boolean) return "`true`, `false`";
  if (info.type == FieldType::text) return "text";
  text = std::to_string(info.attributes.min) + " to " + std::to_string(info.attributes.max);
  return info.attributes.unit.empty() ? text : text + ' ' + std::string(info.attributes.unit);
}

}  // namespace

std::string json_schema() {
  Json root{{"$schema", "http://json-schema.org/draft-07/schema#"},
            {"title", "Outrider configuration"},
            {"type", "object"},
            {"additionalProperties", false}};
  Json& tables = root["properties"] = Json::object();
  for (const NamespaceInfo& space : namespaces()) {
    Json properties = Json::object();
    for (const FieldInfo& info : fields()) {
      if (info.space == space.space) properties[std::string(info.key)] = schema_of(info);
    }
    tables[std::string(space.name)] = object(std::move(properties));
    tables[std::string(space.name)]["description"] = std::string(space.help);
  }
  const Json texts{{"type", "array"}, {"items", {{"type", "string"}}}};
  const Json file{{"type", "string"}, {"minLength", 1}};
  tables["plugins"] = object({{"paths", texts}});
  tables["plugins"]["description"] = "where plugins are searched for";
  Json drafter{{"type", "object"}, {"description", "a drafter: its library, and the plugin's own options"}};
  drafter["properties"] = {{"library", file}, {"corpora", {{"type", "object"}, {"additionalProperties", file}}}};
  drafter["additionalProperties"] = {{"anyOf", Json::array({Json{{"type", {"boolean", "integer", "number", "string"}}}, texts})}};
  tables["drafter"] = {{"type", "object"}, {"additionalProperties", std::move(drafter)}};
  return root.dump(2);
}

std::string markdown_reference() {
  std::string page = kIntroduction;
  for (const NamespaceInfo& space : namespaces()) {
    page += "\n## [" + std::string(space.name) + "]: " + std::string(space.help) + "\n\n";
    page += "| key | values | default | option | reload | draft | meaning |\n|---|---|---|---|---|---|---|\n";
    for (const FieldInfo& info : fields()) {
      if (info.space != space.space) continue;
      const FieldValue initial = get(Namespaces{}, info.id);
      const bool unset = std::holds_alternative<std::monostate>(initial);
      const std::string option = info.option();
      page += "| `" + std::string(info.key) + "` | " + values_of(info) + " | " + (unset ? "*unset*" : '`' + to_text(initial) + '`') +
              " | " + (option.empty() ? "" : '`' + option + '`') + " | " + (info.attributes.reloadable ? "yes" : "") + " | " +
              (info.attributes.draft == DraftRule::own ? "own" : "") + " | " + std::string(info.attributes.help);
      if (info.attributes.secret) page += " A secret: taken from a file or `" + info.environment() + "`, never printed.";
      if (!info.attributes.environment.empty()) page += " Also `" + std::string(info.attributes.environment) + "`.";
      page += " |\n";
    }
  }
  page += kPlugins;
  page +=
      "\nThe environment variable of a setting is `OUTRIDER_`, the table, `_` and the key, in capitals: `OUTRIDER_SPEC_DRAFT_TOKENS`.\n";
  return page;
}

}  // namespace outrider::config
