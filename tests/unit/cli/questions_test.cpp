#include "cli/questions.hpp"

#include <catch2/catch.hpp>
#include <map>

namespace outrider::cli {
namespace {

std::vector<Question> questions(const std::vector<std::pair<std::string, int>>& counts) {
  std::vector<Question> made;
  for (const auto& [category, count] : counts) {
    for (int i = 0; i < count; ++i) made.push_back({category, {category + std::to_string(i)}});
  }
  return made;
}

std::map<std::string, int> count(const std::vector<Question>& chosen) {
  std::map<std::string, int> counts;
  for (const Question& question : chosen) ++counts[question.category];
  return counts;
}

TEST_CASE("a choice of questions is spread evenly over the categories", "[cli]") {
  const auto all = questions({{"a", 10}, {"b", 10}, {"c", 10}});
  CHECK(count(choose_evenly(all, 6)) == std::map<std::string, int>{{"a", 2}, {"b", 2}, {"c", 2}});
  CHECK(count(choose_evenly(all, 7)) == std::map<std::string, int>{{"a", 3}, {"b", 2}, {"c", 2}});
}

TEST_CASE("a category with few questions leaves its share to the others", "[cli]") {
  CHECK(count(choose_evenly(questions({{"a", 1}, {"b", 10}}), 7)) == std::map<std::string, int>{{"a", 1}, {"b", 6}});
}

TEST_CASE("within a category the choice is spread over its questions, in the file's order", "[cli]") {
  const auto chosen = choose_evenly(questions({{"a", 10}}), 5);
  REQUIRE(chosen.size() == 5);
  for (size_t i = 0; i < 5; ++i) CHECK(chosen[i].turns[0] == std::string("a").append(std::to_string(2 * i)));
}

TEST_CASE("no limit, or one above the count, takes all", "[cli]") {
  CHECK(choose_evenly(questions({{"a", 3}}), 0).size() == 3);
  CHECK(choose_evenly(questions({{"a", 3}}), 9).size() == 3);
}

TEST_CASE("the development questions have Spec-Bench's six categories, forty of each", "[cli]") {
  const auto all = read_questions(std::string(OUTRIDER_TEST_DATA) + "/spec_bench_dev.jsonl");
  REQUIRE(all.ok());
  CHECK(categories_of(*all) == std::vector<std::string>{"mt_bench", "translation", "summarization", "qa", "math_reasoning", "rag"});
  for (const auto& [category, questions] : count(*all)) CHECK(questions == 40);
}

}  // namespace
}  // namespace outrider::cli
