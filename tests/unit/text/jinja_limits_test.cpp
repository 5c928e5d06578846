// A template is foreign code: it must end, within limits, and say which limit stopped it.
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "text/chat_template.hpp"
#include "text/jinja_interpreter.hpp"
#include "text/jinja_parser.hpp"

namespace {

using outrider::text::ChatTemplate;
using Json = nlohmann::ordered_json;
namespace jinja = outrider::text::jinja;

// A hundredth of what a render may use by default, so that reaching a limit costs little.
jinja::Limits small_limits() {
  jinja::Limits limits;
  limits.steps = 200'000;
  limits.bytes = 16 << 20;
  limits.output = 1 << 20;
  return limits;
}

std::string error_of(const std::string& source, const Json& input = Json::object()) {
  try {
    const jinja::Template parsed = jinja::Parser(jinja::tokenize(source)).parse();
    return "rendered " + std::to_string(jinja::Interpreter(parsed, small_limits()).render(input).size()) + " bytes";
  } catch (const jinja::TemplateError& error) {
    return error.message;
  }
}

std::string repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST_CASE("a template that would run, grow or recurse without end is stopped by the limit it exceeds") {
  const std::string loop = "{% for a in range(100000) %}";
  CHECK_THAT(error_of(loop + loop + loop + "{% endfor %}{% endfor %}{% endfor %}"),
             Catch::Contains("steps; it was stopped"));
  CHECK_THAT(error_of("{% set l = [1] %}{% for x in l %}{% set _ = l.append(1) %}{% endfor %}"),
             Catch::Contains("it was stopped"));
  CHECK_THAT(
      error_of("{% set t %}" + std::string(1000, 'x') + "{% endset %}{% for i in range(100000) %}{{ t }}{% endfor %}"),
      Catch::Contains("the rendered text exceeds"));
  CHECK_THAT(error_of("{{ 'x' * 100000000 * 100000000 }}"),
             Catch::Contains("limit") || Catch::Contains("it was stopped"));
  CHECK_THAT(error_of("{{ [0] * 1000000000 }}"), Catch::Contains("it was stopped"));
  CHECK_THAT(error_of("{{ 'x'.center(9999999999) }}"), Catch::Contains("it was stopped"));
  CHECK_THAT(
      error_of("{% set ns = namespace(s='x') %}{% for i in range(64) %}{% set ns.s = ns.s + ns.s %}{% endfor %}"),
      Catch::Contains("it was stopped"));
  CHECK_THAT(error_of("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), Catch::Contains("deeper than 200 levels"));
  CHECK_THAT(error_of("{% for x in [[]] recursive %}{{ loop([x]) }}{% endfor %}"),
             Catch::Contains("deeper than 200 levels"));
  CHECK_THAT(error_of("{{ " + repeat("(", 5000) + "1" + repeat(")", 5000) + " }}"), Catch::Contains("nested deeper"));
  CHECK_THAT(error_of("{{ " + repeat("not ", 5000) + "1 }}"), Catch::Contains("nested deeper"));
  CHECK_THAT(error_of("{{ " + repeat("-", 5000) + "1 }}"), Catch::Contains("nested deeper"));
  CHECK_THAT(error_of(repeat("{% if 1 %}", 5000)), Catch::Contains("nested deeper"));
  CHECK_THAT(error_of("{{ 1" + repeat(" + 1", 100000) + " }}"), Catch::Contains("nested too deep"));
  CHECK_THAT(error_of("{{ x" + repeat(" | string", 100000) + " }}"), Catch::Contains("nested too deep"));
}

TEST_CASE("a list that holds itself is an error to print, compare or dump, and is freed") {
  const std::string cyclic = "{% set l = [] %}{% set _ = l.append(l) %}";
  CHECK_THAT(error_of(cyclic + "{{ l }}"), Catch::Contains("nested deeper than 200"));
  CHECK_THAT(error_of(cyclic + "{{ l | tojson }}"), Catch::Contains("Circular reference"));
  CHECK_THAT(error_of(cyclic + "{% set k = [] %}{% set _ = k.append(k) %}{{ l == k }}"),
             Catch::Contains("nested deeper than 200"));
  // Doubling at each level makes 2^50 elements to walk.
  const std::string wide =
      "{% set ns = namespace(a=[1], b=[1]) %}{% for i in range(50) %}{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, "
      "ns.b] %}{% endfor %}";
  CHECK_THAT(error_of(wide + "{{ ns.a }}"), Catch::Contains("it was stopped"));
  CHECK_THAT(error_of(wide + "{{ ns.a == ns.b }}"), Catch::Contains("it was stopped"));
  CHECK_THAT(error_of(wide + "{{ ns.a | tojson }}"), Catch::Contains("it was stopped"));
}

TEST_CASE("an input nested too deep is refused") {
  Json deep = 1;
  for (int i = 0; i < 1000; ++i) deep = Json::array({std::move(deep)});
  CHECK_THAT(error_of("{{ x }}", {{"x", deep}}),
             Catch::Contains("the variable 'x'") && Catch::Contains("nested deeper than 200"));
}

TEST_CASE("a message of a megabyte renders without a quadratic step") {
  std::string text;
  while (text.size() < (1u << 20)) text += "Zürich & \"quotes\" \n";
  const Json input = {{"messages", Json::array({{{"role", "user"}, {"content", text}},
                                                {{"role", "assistant"}, {"content", "</think>" + text}}})}};
  const auto parsed = ChatTemplate::parse(
      "{% for m in messages %}{{ '<|' + m.role + '|>' + m['content'] | trim + '\\n' }}{{ "
      "m.content.split('</think>')[-1].lstrip() }}"
      "{{ m | tojson }}{{ m.content | length }}{{ m.content[1:-1] | replace('&', '+') | indent }}{{ m.content | lower "
      "}}{{ m }}{% endfor %}");
  REQUIRE(parsed);
  const auto start = std::chrono::steady_clock::now();
  const auto rendered = parsed->render(input);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!rendered) FAIL(rendered.error().message);
  CHECK(rendered->size() > 12 * text.size());
  CHECK(took.count() < 20);  // 0.3 s without a sanitizer, 4 s with one, on a busy two-core machine
}

// One mutation: a byte changed, a piece deleted, doubled, or replaced by a piece of another template.
std::string mutate(std::string text, const std::vector<std::string>& corpus, std::mt19937& random) {
  static const std::string kBytes = "{}%#-+|.,:()[]'\"~=<>!*/\\ \nabx01_\xC3\xA9";
  const auto below = [&](std::size_t n) { return n ? random() % n : 0; };
  for (std::size_t n = 1 + below(4); n > 0; --n) {
    const std::size_t at = below(text.size() + 1), length = std::min(below(30), text.size() - at);
    switch (below(5)) {
      case 0:
        text.insert(at, 1, kBytes[below(kBytes.size())]);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        if (at < text.size()) text[at] = kBytes[below(kBytes.size())];
        break;
      default: {
        const std::string& other = corpus[below(corpus.size())];
        const std::size_t from = below(other.size() + 1);
        text.replace(at, length, other.substr(from, below(60)));
      }
    }
  }
  return text;
}

TEST_CASE("mutated templates render or fail within limits, and never crash") {
  std::ifstream file(OUTRIDER_TEST_DATA "/golden/jinja.jsonl");
  std::vector<std::string> corpus;
  std::vector<Json> inputs;
  for (std::string line; std::getline(file, line);) {
    const Json test = Json::parse(line);
    corpus.push_back(test["template"].get<std::string>());
    inputs.push_back(test["input"]);
  }
  REQUIRE_FALSE(corpus.empty());
  const jinja::Limits limits = small_limits();
  std::mt19937 random(20240229);
  int rendered = 0, refused = 0;
  for (int i = 0; i < 6000; ++i) {
    const std::size_t pick = random() % corpus.size();
    const std::string source = mutate(corpus[pick], corpus, random);
    try {
      const jinja::Template parsed = jinja::Parser(jinja::tokenize(source)).parse();
      jinja::Interpreter(parsed, limits).render(inputs[pick]);
      ++rendered;
    } catch (const jinja::TemplateError& error) {
      CHECK_FALSE(error.message.empty());
      CHECK(error.at.line > 0);
      ++refused;
    }
  }
  CHECK(rendered > 500);
  CHECK(refused > 500);
}

}  // namespace
