#include "text/chat_template.hpp"

#include <catch2/catch.hpp>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using outrider::text::ChatTemplate;
using Json = nlohmann::ordered_json;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string render(const std::string& source, const Json& input = Json::object()) {
  const auto parsed = ChatTemplate::parse(source);
  if (!parsed) return parsed.error().message;
  const auto rendered = parsed->render(input);
  return rendered ? *rendered : rendered.error().message;
}

TEST_CASE("the models' own templates render the reference conversations byte for byte") {
  std::ifstream file(OUTRIDER_TEST_DATA "/reference/chat_templates.jsonl");
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    const Json reference = Json::parse(line);
    const std::string source =
        read(OUTRIDER_TEST_DATA "/templates/" + reference["model"].get<std::string>() + ".jinja");
    REQUIRE_FALSE(source.empty());
    Json input = reference;
    input.erase("expected");
    INFO(line);
    CHECK(render(source, input) == reference["expected"].get<std::string>());
    ++lines;
  }
  CHECK(lines == 60);
}

TEST_CASE("an error names the construct with its line and column") {
  CHECK(render("a\n  {% include 'x' %}") ==
        "chat template, line 2, column 6: the statement 'include' is not supported in a chat template");
  CHECK(render("{{ 'é' }}{{ x | xmlattr }}") ==
        "chat template, line 1, column 17: the filter 'xmlattr' is not supported in a chat template");
  CHECK(render("{{ a.b.c }}", {{"a", Json::object()}}) ==
        "chat template, line 1, column 8: 'dict object' has no attribute 'b'");
  CHECK(render("\n\n{{ 'x' + 1 }}") ==
        "chat template, line 3, column 8: can only concatenate str (not \"int\") to str");
}

TEST_CASE("what Jinja has and this has not is refused by name") {
  const auto refuses = [](const std::string& source, const std::string& name) {
    INFO(source);
    CHECK_THAT(render(source),
               Catch::Contains(name) && Catch::Contains("not supported") && Catch::Contains("line 1, column"));
  };
  for (const char* tag :
       {"extends", "include", "import", "from", "block", "autoescape", "do", "trans", "debug", "print"})
    refuses("{% " + std::string(tag) + " x %}", tag);
  for (const char* filter : {"filesizeformat", "groupby", "pprint", "random", "striptags", "truncate", "urlencode",
                             "urlize", "wordcount", "wordwrap", "xmlattr"})
    refuses("{{ 'x' | " + std::string(filter) + " }}", filter);
  for (const char* function : {"cycler", "joiner", "lipsum"})
    refuses("{{ " + std::string(function) + "() }}", function);
  for (const char* method : {"encode", "casefold", "expandtabs", "translate", "isnumeric"})
    refuses("{{ 'x'." + std::string(method) + "() }}", method);
  refuses("{{ {}.popitem() }}", "popitem");
  refuses("{{ [].sort() }}", "sort");
  refuses("{{ (5).real }}", "real");
  refuses("{{ 'é'.isalpha() }}", "isalpha");
  refuses("{{ 1 is sameas 1 }}", "sameas");
  refuses("{{ [1] | map('string') }}", "generator");
  refuses("{{ ('%s' | safe) % 1 }}", "%");
  refuses("{{ 2 ** 200 }}", "128 bits");
  refuses("{{ '\\N{BULLET}' }}", "\\N");
}

TEST_CASE("a member that the input lacks is undefined, one that is null is none") {
  CHECK(render("[{{ x }}] {{ x is defined }} {{ y is none }} {{ y }}", {{"y", nullptr}}) == "[] False True None");
  CHECK_THAT(render("x", Json::array()),
             Catch::Contains("expected the template's variables as a JSON object, found array"));
}

TEST_CASE("NUL bytes and invalid UTF-8 in the input pass through unchanged") {
  const std::string odd("a\0b\xFF\xC3", 5);
  CHECK(render("{{ x | trim }}{{ x | length }}{{ x[3] }}{{ x[::-1] }}{{ x | upper }}", {{"x", odd}}) ==
        odd + "5\xFF" +
            std::string("\xC3\xFF"
                        "b\0a",
                        5) +
            std::string("A\0B\xFF\xC3", 5));
}

TEST_CASE("strftime_now gives the local date") {
  const std::string source = "{{ strftime_now('%Y-%m-%d') }}";
  const auto today = [] {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", &local);
    return std::string(text);
  };
  const std::string before = today(), got = render(source), after = today();
  CHECK((got == before || got == after));
}

TEST_CASE("one template renders in many threads at once") {
  const auto parsed =
      ChatTemplate::parse("{% for m in messages %}{{ m.role ~ ':' ~ m.content | upper }}\n{% endfor %}");
  REQUIRE(parsed);
  std::vector<std::string> texts(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < texts.size(); ++i)
    threads.emplace_back([&, i] {
      const Json input = {{"messages", Json::array({{{"role", "user"}, {"content", std::string(i + 1, 'n')}}})}};
      for (int k = 0; k < 50; ++k) {
        const auto rendered = parsed->render(input);
        texts[i] = rendered ? *rendered : rendered.error().message;
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < texts.size(); ++i) CHECK(texts[i] == "user:" + std::string(i + 1, 'N') + "\n");
}

}  // namespace
