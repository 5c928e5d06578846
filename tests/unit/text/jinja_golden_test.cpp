// Every case of tests/data/golden/jinja.jsonl, whose expectations Python's jinja2 wrote.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "text/chat_template.hpp"

namespace {

using outrider::text::ChatTemplate;
using Json = nlohmann::ordered_json;

TEST_CASE("templates render as Python's jinja2 renders them, and fail where it fails") {
  std::ifstream file(OUTRIDER_TEST_DATA "/golden/jinja.jsonl");
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    const Json test = Json::parse(line);
    ++cases;
    INFO(test["name"].get<std::string>() << ": " << test["template"]);
    const auto parsed = ChatTemplate::parse(test["template"].get<std::string>());
    const auto rendered = parsed ? parsed->render(test["input"]) : outrider::Result<std::string>(parsed.error());
    if (test.contains("expected")) {
      if (!rendered) FAIL_CHECK(rendered.error().message);
      if (rendered) CHECK(*rendered == test["expected"].get<std::string>());
    } else {
      INFO("Python: " << test["error"]);
      CHECK_FALSE(rendered.ok());
      if (!rendered) CHECK(rendered.error().message.find("line ") != std::string::npos);
    }
  }
  CHECK(cases > 400);
}

TEST_CASE("what a template raises is the error's text") {
  const auto parsed = ChatTemplate::parse("a\n {{ raise_exception('roles must ' ~ 'alternate') }}");
  REQUIRE(parsed);
  const auto rendered = parsed->render(Json::object());
  REQUIRE_FALSE(rendered);
  CHECK(rendered.error().message == "chat template, line 2, column 20: roles must alternate");
}

}  // namespace
