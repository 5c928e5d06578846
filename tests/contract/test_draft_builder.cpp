#include <catch2/catch.hpp>

#include "ngram/draft_builder.hpp"

using namespace ngram;

namespace {

// Matches of equal length over given continuations.
struct Matches {
  std::vector<std::vector<int32_t>> texts;
  std::vector<Match> matches;
  explicit Matches(std::vector<std::vector<int32_t>> continuations, uint32_t length = 5) : texts(std::move(continuations)) {
    for (const auto& text : texts) matches.push_back({text.data(), static_cast<uint32_t>(text.size()), length});
  }
};

std::vector<int32_t> tokens(const DraftBuilder& draft) {
  std::vector<int32_t> all;
  for (const auto& node : draft.nodes()) all.push_back(node.token);
  return all;
}

std::vector<int32_t> parents(const DraftBuilder& draft) {
  std::vector<int32_t> all;
  for (const auto& node : draft.nodes()) all.push_back(node.parent);
  return all;
}

}  // namespace

TEST_CASE("one match makes a chain as long as depth, nodes and text allow") {
  const Matches one({{4, 5, 6, 7}});
  DraftBuilder draft;
  draft.build(one.matches, {}, {16, 16, 0.0F});
  CHECK(tokens(draft) == std::vector<int32_t>{4, 5, 6, 7});
  CHECK(parents(draft) == std::vector<int32_t>{-1, 0, 1, 2});
  draft.build(one.matches, {}, {16, 3, 0.0F});
  CHECK(draft.nodes().size() == 3);
  draft.build(one.matches, {}, {2, 16, 0.0F});
  CHECK(draft.nodes().size() == 2);
  draft.build(one.matches, {}, {0, 16, 0.0F});
  CHECK(draft.nodes().empty());
}

TEST_CASE("a repetition is drafted beyond the end of the text") {
  Matches one({{4, 5}});
  one.matches[0].repeats = true;
  DraftBuilder draft;
  draft.build(one.matches, {}, {16, 5, 0.0F});
  CHECK(tokens(draft) == std::vector<int32_t>{4, 5, 4, 5, 4});
}

TEST_CASE("continuations that begin alike share their nodes and branch where they part") {
  const Matches two({{4, 5, 6}, {4, 9}});
  DraftBuilder draft;
  draft.build(two.matches, {}, {16, 16, 0.0F});
  REQUIRE(draft.nodes().size() == 4);  // 4, 5, 6 and 9
  size_t below_4 = 0;
  for (const auto& node : draft.nodes()) {
    CHECK(node.parent < static_cast<int32_t>(&node - draft.nodes().data()));
    if (node.token == 5 || node.token == 9) {
      CHECK(draft.nodes()[static_cast<size_t>(node.parent)].token == 4);
      ++below_4;
    }
  }
  CHECK(below_4 == 2);
}

TEST_CASE("equal continuations add nothing") {
  const Matches same({{4, 5}, {4, 5}, {4, 5}});
  DraftBuilder draft;
  draft.build(same.matches, {}, {16, 16, 0.0F});
  CHECK(tokens(draft) == std::vector<int32_t>{4, 5});
}

TEST_CASE("siblings are distinct and their chances add up to at most one") {
  const Matches many({{1, 1}, {2, 2}, {3, 3}, {1, 4}, {2, 1}});
  DraftBuilder draft;
  draft.build(many.matches, {}, {32, 8, 0.0F});
  for (size_t parent = 0; parent <= draft.nodes().size(); ++parent) {
    float sum = 0;
    std::vector<int32_t> seen;
    for (const auto& node : draft.nodes()) {
      if (node.parent != static_cast<int32_t>(parent) - 1) continue;
      CHECK(std::find(seen.begin(), seen.end(), node.token) == seen.end());
      seen.push_back(node.token);
      sum += node.chance;
    }
    CHECK(sum <= 1.0F);
  }
}

TEST_CASE("nodes come in order of their chance and unlikely ones are left out") {
  const Matches two({{4, 5, 6}, {9, 8, 7}}, 2);
  DraftBuilder draft;
  draft.build(two.matches, {}, {16, 16, 0.0F});
  for (size_t i = 1; i < draft.nodes().size(); ++i) CHECK(draft.nodes()[i].joint <= draft.nodes()[i - 1].joint);
  const float second = draft.nodes()[1].joint;
  draft.build(two.matches, {}, {16, 16, second + 1e-4F});
  CHECK(draft.nodes().size() == 1);
}

TEST_CASE("what came true raises the hit rate of its length and what did not lowers it") {
  const Matches one({{4, 5, 6}}, 3);
  DraftBuilder draft;
  HitRates rates;
  draft.build(one.matches, rates, {16, 16, 0.0F});
  const float at3 = rates.rate(3), at4 = rates.rate(4), at5 = rates.rate(5);
  draft.score({4, 9}, rates);  // 4 was right, then 9 came in place of 5
  CHECK(rates.rate(3) > at3);
  CHECK(rates.rate(4) < at4);
  CHECK(rates.rate(5) == at5);  // 6 was never on trial
}
