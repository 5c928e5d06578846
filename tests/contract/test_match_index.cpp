#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "ngram/match_index.hpp"

using ngram::Match;
using ngram::MatchIndex;
using ngram::Tokens;

namespace {

Tokens view(const std::vector<int32_t>& tokens) { return {tokens.data(), tokens.size()}; }

// `tokens` must outlive what is returned: matches point into it.
std::vector<Match> find(const std::vector<int32_t>& tokens, size_t most = 4, uint32_t min_n = 2, uint32_t max_n = 4) {
  MatchIndex index(min_n, max_n);
  index.extend(view(tokens));
  std::vector<Match> found;
  index.find(view(tokens), view(tokens), most, found);
  return found;
}
std::vector<Match> find(std::vector<int32_t>&&, size_t = 0, uint32_t = 0, uint32_t = 0) = delete;

// What find() promises, done by looking at every position: (matched length, position of what follows), best first.
std::vector<std::pair<uint32_t, size_t>> by_hand(const std::vector<int32_t>& t, uint32_t min_n) {
  std::vector<std::pair<uint32_t, size_t>> all;
  for (size_t end = t.size() - 1; end-- > 0;) {  // the last position is the query itself
    uint32_t length = 0;
    while (length < MatchIndex::kLongest && length <= end && t[end - length] == t[t.size() - 1 - length]) ++length;
    if (length >= min_n) all.emplace_back(length, end + 1);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return all;
}

}  // namespace

TEST_CASE("the longest match wins over a more recent shorter one") {
  //                                  1 2 3 -> 9      2 3 -> 8         1 2 3
  const std::vector<int32_t> tokens = {1, 2, 3, 9, 7, 2, 3, 8, 5, 1, 2, 3};
  const auto found = find(tokens);
  REQUIRE(found.size() == 2);
  CHECK(found[0].length == 3);
  CHECK(*found[0].next == 9);
  CHECK(found[1].length == 2);
  CHECK(*found[1].next == 8);
}

TEST_CASE("among equally long matches the most recent comes first") {
  const std::vector<int32_t> tokens = {1, 2, 7, 0, 1, 2, 8, 0, 3, 1, 2};
  const auto found = find(tokens);
  REQUIRE(found.size() == 2);
  CHECK(*found[0].next == 8);
  CHECK(*found[1].next == 7);
}

TEST_CASE("a match longer than the longest n is measured to its full length") {
  const std::vector<int32_t> tokens = {1, 2, 3, 4, 5, 6, 9, 9, 1, 2, 3, 4, 5, 6};
  const auto found = find(tokens, 4, 2, 3);
  REQUIRE(found.size() == 1);
  CHECK(found[0].length == 6);
  CHECK(found[0].next[0] == 9);
}

TEST_CASE("no match, a text too short, and an empty one give nothing") {
  const std::vector<std::vector<int32_t>> texts = {{1, 2, 3, 4, 5, 6}, {1}, {1, 1}, {}};  // in 1 1 one token repeats, not two
  for (const auto& tokens : texts) CHECK(find(tokens).empty());
}

TEST_CASE("a text that repeats itself is taken to go on doing so") {
  const std::vector<int32_t> tokens = {9, 5, 6, 7, 5, 6, 7, 5, 6};
  const auto found = find(tokens, 1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].length == 5);  // 5 6 7 5 6
  REQUIRE(found[0].repeats);
  const std::vector<int32_t> expected = {7, 5, 6, 7, 5, 6, 7, 5};
  for (uint32_t depth = 0; depth < expected.size(); ++depth) CHECK(found[0].at(depth) == expected[depth]);
  // In another text the same place is simply its end.
  MatchIndex index(2, 4);
  index.extend(view(tokens));
  const std::vector<int32_t> query = {3, 6, 7, 5};
  std::vector<Match> elsewhere;
  index.find(view(tokens), view(query), 1, elsewhere);
  REQUIRE(elsewhere.size() == 1);
  CHECK_FALSE(elsewhere[0].repeats);
  CHECK_FALSE(elsewhere[0].has(1));
}

TEST_CASE("neither a match nor a continuation crosses a document break") {
  const std::vector<int32_t> corpus = {1, 2, -1, 3, 4, 5, -1, 2, 3, 6};
  MatchIndex index(2, 4);
  index.extend(view(corpus));
  std::vector<Match> found;
  const std::vector<int32_t> ends_a_document = {1, 2};
  index.find(view(corpus), view(ends_a_document), 4, found);
  CHECK(found.empty());  // nothing follows 1 2 in its document
  const std::vector<int32_t> inside = {9, 3, 4};
  index.find(view(corpus), view(inside), 4, found);
  REQUIRE(found.size() == 1);
  CHECK(found[0].room == 1);
  CHECK(found[0].next[0] == 5);
}

TEST_CASE("indexing token by token finds the same as indexing at once") {
  std::mt19937 random(7);
  std::vector<int32_t> tokens;
  MatchIndex growing(2, 4);
  for (int i = 0; i < 2000; ++i) {
    tokens.push_back(static_cast<int32_t>(random() % 7));
    growing.extend(view(tokens));
    if (i % 37 != 0) continue;
    std::vector<Match> a, b;
    growing.find(view(tokens), view(tokens), 8, a);
    MatchIndex whole(2, 4);
    whole.extend(view(tokens));
    whole.find(view(tokens), view(tokens), 8, b);
    REQUIRE(a.size() == b.size());
    for (size_t m = 0; m < a.size(); ++m) {
      CHECK(a[m].next == b[m].next);
      CHECK(a[m].length == b[m].length);
    }
  }
}

TEST_CASE("the first match is the one a search of every position finds, where few places match") {
  std::mt19937 random(11);
  size_t compared = 0;
  for (int text = 0; text < 200; ++text) {
    std::vector<int32_t> tokens;
    for (int i = 0; i < 120; ++i) tokens.push_back(static_cast<int32_t>(random() % 12));
    const auto expected = by_hand(tokens, 2);
    const auto found = find(tokens, 8);
    REQUIRE(found.empty() == expected.empty());
    if (expected.empty()) continue;
    ++compared;
    CHECK(found[0].length == expected[0].first);
    CHECK(static_cast<size_t>(found[0].next - tokens.data()) == expected[0].second);
  }
  CHECK(compared > 50);
}

TEST_CASE("after a cut the index finds only what is still there, also when the text goes on differently") {
  std::vector<int32_t> tokens = {1, 2, 3, 4, 1, 2, 7, 8, 1, 2};
  MatchIndex index(2, 4);
  index.extend(view(tokens));
  tokens.resize(5);  // 1 2 3 4 1
  index.truncate(tokens.size());
  tokens.insert(tokens.end(), {9, 9, 1, 2});
  index.extend(view(tokens));
  std::vector<Match> found;
  index.find(view(tokens), view(tokens), 4, found);
  REQUIRE(found.size() == 1);
  CHECK(found[0].next == tokens.data() + 2);
}

TEST_CASE("an index takes the memory it announces") {
  for (const size_t count : {size_t{100}, size_t{5000}}) {
    MatchIndex index(2, 5);
    const std::vector<int32_t> tokens(count, 3);
    index.reserve(count);
    index.extend(view(tokens));
    CHECK(index.bytes() <= MatchIndex::bytes_for(count, 2, 5));
  }
}
