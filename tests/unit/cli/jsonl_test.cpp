#include "cli/jsonl.hpp"

#include <catch2/catch.hpp>

namespace outrider::cli {
namespace {

TEST_CASE("a line that holds no JSON object is refused with what it holds", "[cli]") {
  CHECK(parse_object(R"({"a": 1})").ok());
  CHECK(parse_object("[1]").error().message.find("array") != std::string::npos);
  CHECK(parse_object("{\"a\": ").error().message.find("expected a JSON object") == 0);
  CHECK_FALSE(parse_object("{\"a\": \"\xff\"}").ok());
  CHECK_FALSE(parse_object("").ok());
}

TEST_CASE("an error about a broken line stays short however long the line is", "[cli]") {
  CHECK(parse_object("{" + std::string(1 << 20, 'x')).error().message.size() < 400);
}

TEST_CASE("a missing member and one of another type are named with the expectation", "[cli]") {
  const Json object = {{"text", 7}};
  CHECK(member<std::string>(object, "text", "a string").error().message == "member \"text\": expected a string, found number");
  CHECK(member<std::string>(object, "gone", "a string").error().message == "member \"gone\": expected a string, found none");
}

TEST_CASE("token ids are whole numbers from 0 to 2^31 - 1, and nothing is converted", "[cli]") {
  CHECK(*token_list(Json::parse("[0, 2147483647]"), "ids") == std::vector<int32_t>{0, 2147483647});
  CHECK(token_list(Json::array(), "ids")->empty());
  for (const char* bad : {"[-1]", "[1.0]", "[2147483648]", "[18446744073709551615]", "[\"1\"]", "[true]", "[[1]]", "{}", "7"}) {
    INFO(bad);
    CHECK_FALSE(token_list(Json::parse(bad), "ids").ok());
  }
}

TEST_CASE("text that is no UTF-8 is written with the replacement character", "[cli]") {
  CHECK(to_line(Json{{"text", std::string("a\xff") + std::string(1, '\0') + "b"}}) == "{\"text\":\"a\xef\xbf\xbd\\u0000b\"}");
}

TEST_CASE("no character that some reader takes for a line end is written as it is", "[cli]") {
  const std::string text = "a\n\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\xc2\xa0\xe2\x82\xac";
  const std::string line = to_line(Json{{"text", text}});
  CHECK(line == "{\"text\":\"a\\n\\u0085\\u2028\\u2029\xc2\xa0\xe2\x82\xac\"}");
  CHECK(Json::parse(line)["text"] == text);
}

}  // namespace
}  // namespace outrider::cli
