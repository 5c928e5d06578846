#include "config/report.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "config/draft_copy.hpp"
#include "support.hpp"

using namespace outrider;
using namespace outrider::config;
using namespace outrider::config::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

ServerArgs loaded(const std::string& file, const Environment& environment = {}) {
  Result<ServerArgs> args = load({.command_line = {{file}, {}}, .environment = environment, .passes = {}});
  if (!args) FAIL(args.error().message);
  return *std::move(args);
}

std::string show(const ServerArgs& args, Format format) {
  std::ostringstream out;
  write_show(out, args, format);
  return out.str();
}

std::string repository_file(const std::string& name) { return std::string(OUTRIDER_TEST_DATA) + "/../../" + name; }

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("docs/configuration.md is what the field table says") {
  const std::string page = repository_file("docs/configuration.md");
  if (std::getenv("OUTRIDER_UPDATE_DOCS") != nullptr) std::ofstream(page, std::ios::binary) << markdown_reference();
  INFO("renew it with OUTRIDER_UPDATE_DOCS=1 test_config");
  CHECK(contents(page) == markdown_reference());
}

TEST_CASE("what config show prints can be read again as a file and gives the same values") {
  const Folder folder;
  const ServerArgs args = loaded(folder.write("a.toml", R"([model]
path = "a \"quoted\" \\ path\twith é"
chat_template = "t.jinja"
[spec]
algorithm = "mine"
draft_tokens = 5
[plugins]
paths = ["/opt/a"]
[drafter.mine]
library = "m.so"
big = 9223372036854775807
rate = 2.0
words = ["a", "b"]
[drafter."odd name".corpora]
law = "/l"
)"));
  const std::string text = show(args, Format::text);
  const ServerArgs again = loaded(folder.write("b.toml", text));
  CHECK(again.values() == args.values());
  CHECK(again.plugin_paths == args.plugin_paths);
  REQUIRE(again.drafter("mine") != nullptr);
  CHECK(again.drafter("mine")->options.size() == 3);
  CHECK(again.drafter("mine")->options[1].value == OptionValue(2.0));
  REQUIRE(again.drafter("odd name") != nullptr);
  CHECK(again.drafter("odd name")->corpora[0].file == "/l");
  CHECK_THAT(text, Contains("draft_tokens = 5") && Contains("# " + (folder / "a.toml") + ":6:16") && Contains("# name = unset"));
}

TEST_CASE("config show as JSON gives each value with its origin") {
  const Folder folder;
  const std::string file = folder.write("a.toml", "[spec]\ndraft_tokens = 5\n[drafter.mine]\nx = 1\n");
  const Json json = Json::parse(show(loaded(file), Format::json));
  const Json& tokens = json["values"]["spec"]["draft_tokens"];
  CHECK(tokens["value"] == 5);
  CHECK(tokens["origin"]["kind"] == "file");
  CHECK(tokens["origin"]["where"] == file);
  CHECK(tokens["origin"]["line"] == 2);
  CHECK(tokens["origin"]["column"] == 16);
  CHECK(json["values"]["model"]["chat_template"]["value"].is_null());
  CHECK(json["values"].size() == 9);
  CHECK(json["drafters"]["mine"]["options"]["x"]["value"] == 1);
  CHECK(json["plugins"]["paths"]["value"].is_array());
}

TEST_CASE("no report prints a secret") {
  const Folder folder;
  const ServerArgs args =
      loaded(folder.write("a.toml", "[drafter.mine]\nupstream_password = \"hunter2\"\n"), {{"OUTRIDER_SERVING_API_KEY", "s3cret"}});
  const ServerArgs other = loaded(folder.write("b.toml", ""), {{"OUTRIDER_SERVING_API_KEY", "0ther"}});
  std::ostringstream all;
  for (const Format format : {Format::text, Format::json}) {
    write_show(all, args, format);
    CHECK(write_explain(all, args, {}, format).ok());
    write_diff(all, args, other, format);
  }
  CHECK_THAT(all.str(), Contains("***") && !Contains("s3cret") && !Contains("0ther") && !Contains("hunter2"));
}

TEST_CASE("config explain gives every step of a value's way, the one in force first") {
  const Folder folder;
  const std::string file = folder.write("a.toml", "[spec]\ndraft_tokens = 5\n");
  std::ostringstream out;
  CHECK(write_explain(out, loaded(file, {{"OUTRIDER_SPEC_DRAFT_TOKENS", "6"}}), {"draft_tokens"}, Format::text).ok());
  CHECK(out.str() ==
        "spec.draft_tokens = 6\n"
        "  from environment OUTRIDER_SPEC_DRAFT_TOKENS: 6\n"
        "  over " +
            file +
            ":2:16: 5\n"
            "  over default: 8\n");
  std::ostringstream none;
  const auto refused = write_explain(none, ServerArgs(), {"draft_tokns"}, Format::text);
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message, Contains("did you mean 'draft_tokens'?"));
}

TEST_CASE("config explain of a draft copy names the step that set each value") {
  RuntimeContext context;
  must(context.publish(make_args({{"spec.draft_kv_type", "f32"}}), Role::test));
  must(context.override("kv gate", {{"memory.kv_type", "f16"}}));
  const auto copy = draft_args_copy(context, {4096});
  REQUIRE(copy.ok());
  std::ostringstream out;
  CHECK(write_explain(out, **copy, {"memory.kv_type", "context_length"}, Format::text).ok());
  CHECK(out.str() ==
        "memory.kv_type = \"f32\"\n"
        "  from draft copy: spec.draft_kv_type: \"f32\"\n"
        "  over override kv gate: \"f16\"\n"
        "  over default: \"auto\"\n"
        "model.context_length = 4096\n"
        "  from draft copy: the target's context length: 4096\n"
        "  over default: 0\n");
  std::ostringstream json;
  CHECK(write_explain(json, **copy, {"kv_type"}, Format::json).ok());
  CHECK(Json::parse(json.str())["memory.kv_type"]["steps"][1]["origin"]["kind"] == "override");
}

TEST_CASE("config diff names what changes and what needs a restart") {
  const Folder folder;
  const ServerArgs a = loaded(folder.write("a.toml", "[spec]\ndraft_tokens = 5\n[drafter.x]\nn = 1\n"));
  const ServerArgs b = loaded(folder.write("b.toml", "[spec]\ndraft_tokens = 6\n[memory]\nkv_type = \"f32\"\n[drafter.x]\nn = 2\n"));
  std::ostringstream out;
  write_diff(out, a, b, Format::text);
  CHECK(out.str() ==
        "memory.kv_type: \"auto\" -> \"f32\"  (needs a restart)\n"
        "spec.draft_tokens: 5 -> 6  (on reload)\n"
        "drafter.x: one table -> another  (needs a restart)\n");
  std::ostringstream same;
  write_diff(same, a, a, Format::text);
  CHECK(same.str() == "no difference\n");
  std::ostringstream json;
  write_diff(json, a, b, Format::json);
  CHECK(Json::parse(json.str())["changes"].size() == 3);
}

TEST_CASE("config check says good, or every fault, and its status follows") {
  const Folder folder;
  std::ostringstream good, bad, json;
  CHECK(write_check(good, load_all({}), Format::text) == 0);
  CHECK(good.str() == "the configuration is good\n");
  const Sources sources{.command_line = {{folder.write("a.toml", "[spec]\nlaw = 3\ntreee = true\n")}, {}}, .environment = {}};
  CHECK(write_check(bad, load_all(sources), Format::text) == 1);
  CHECK_THAT(bad.str(), Contains("2 faults"));
  CHECK(write_check(json, load_all(sources), Format::json) == 1);
  const Json faults = Json::parse(json.str())["faults"];
  REQUIRE(faults.size() == 2);
  CHECK(faults[0]["origin"]["line"] == 2);
  CHECK(faults[1]["hint"] == "did you mean 'tree'?");
}

TEST_CASE("the schema describes every field and forbids what the loader refuses") {
  const Json schema = Json::parse(json_schema());
  CHECK(schema["additionalProperties"] == false);
  for (const FieldInfo& info : fields()) {
    INFO(info.path);
    const Json& space = schema["properties"][std::string(info.space_name)];
    CHECK(space["additionalProperties"] == false);
    const Json& property = space["properties"][std::string(info.key)];
    CHECK(property["description"] == std::string(info.attributes.help));
    CHECK(property.contains("default") == !std::holds_alternative<std::monostate>(get(Namespaces{}, info.id)));
    CHECK(property.contains("enum") == !info.choices().empty());
    CHECK(property.contains("minimum") == (info.type == FieldType::integer));
  }
  CHECK(schema["properties"]["serving"]["properties"]["api_key"]["writeOnly"] == true);
  CHECK(schema["properties"]["spec"]["properties"]["draft_tokens"]["maximum"] == 1024);
  CHECK(schema["properties"]["drafter"]["additionalProperties"]["properties"].contains("library"));
}
