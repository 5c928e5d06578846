#include "cli/bench_report.hpp"

#include <catch2/catch.hpp>

namespace outrider::cli {
namespace {

scheduler::Timing decoded(int64_t tokens, double seconds) {
  scheduler::Timing timing;
  timing.decode_tokens = tokens;
  timing.decode_seconds = seconds;
  return timing;
}

Pair pair(const std::string& category, const std::string& drafter, int64_t tokens, double plain_seconds, double seconds, int64_t rounds,
          bool identical = true) {
  Pair made{category, drafter, decoded(tokens, plain_seconds), decoded(tokens, seconds), {}, identical};
  made.speculation.rounds = rounds;
  made.speculation.drafted = 2 * (tokens - rounds);
  made.speculation.correct_drafts = tokens - rounds;
  return made;
}

TEST_CASE("rates are sums of tokens over sums of seconds, not means of ratios", "[cli]") {
  const auto rows = summarise({pair("qa", "a", 100, 2.0, 1.0, 50), pair("qa", "a", 300, 2.0, 3.0, 150)}, {"qa"});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].category == "qa");
  CHECK(rows[0].prompts == 2);
  CHECK(rows[0].tokens_per_second == Approx(100));
  CHECK(rows[0].plain_tokens_per_second == Approx(100));
  CHECK(rows[0].speedup == Approx(1));
  CHECK(rows[0].acceptance_length == Approx(2));
  CHECK(rows[1].category == "overall");
  CHECK(rows[1].tokens_per_second == Approx(100));
}

TEST_CASE("each drafter has its categories in order and an overall row; a category without prompts has none", "[cli]") {
  const auto rows = summarise({pair("rag", "b", 10, 1, 1, 10), pair("qa", "b", 10, 1, 1, 10), pair("qa", "a", 10, 1, 1, 10)},
                              {"qa", "writing", "rag"});
  std::vector<std::pair<std::string, std::string>> seen;
  for (const BenchRow& row : rows) seen.emplace_back(row.drafter, row.category);
  CHECK(seen == std::vector<std::pair<std::string, std::string>>{
                    {"b", "qa"}, {"b", "rag"}, {"b", "overall"}, {"a", "qa"}, {"a", "overall"}});
}

TEST_CASE("one changed answer makes its category and the whole not identical", "[cli]") {
  const auto rows = summarise({pair("qa", "a", 10, 1, 1, 10), pair("rag", "a", 10, 1, 1, 10, false)}, {"qa", "rag"});
  CHECK(rows[0].identical);
  CHECK_FALSE(rows[1].identical);
  CHECK_FALSE(rows[2].identical);
  CHECK(table(rows).find("NO") != std::string::npos);
}

TEST_CASE("nothing decoded gives zeros, not a division by zero", "[cli]") {
  const auto rows = summarise({pair("qa", "a", 0, 0, 0, 0)}, {"qa"});
  CHECK(rows[0].speedup == 0);
  CHECK(rows[0].acceptance_length == 0);
}

TEST_CASE("a row's JSON has exactly the promised names, in order", "[cli]") {
  const Json json = rows_json(summarise({pair("qa", "a", 10, 1, 1, 10)}, {"qa"}));
  std::vector<std::string> names;
  for (const auto& [name, value] : json[0].items()) names.push_back(name);
  CHECK(names == std::vector<std::string>{"category", "drafter", "tokens_per_second", "plain_tokens_per_second", "speedup",
                                          "acceptance_length", "identical"});
}

}  // namespace
}  // namespace outrider::cli
