// What a proposal of the n-gram drafter costs at a context of 8,192 tokens: by kind of text, the time to take in one new token and look for
// matches (index and draft, without the border), and the time to take in the whole prompt. The promise: under 20 microseconds a proposal.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "ngram/draft_builder.hpp"
#include "ngram/match_index.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using ngram::Tokens;

constexpr size_t kContext = 8192;
constexpr size_t kRounds = 2000;

double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

void measure(const std::string& name, const std::vector<int32_t>& text) {
  ngram::MatchIndex index(2, 5);
  ngram::DraftBuilder draft;
  const ngram::HitRates rates;
  std::vector<ngram::Match> matches;
  const auto start = Clock::now();
  index.reserve(text.size());
  index.extend(Tokens(text.data(), kContext));
  const double prompt = microseconds(Clock::now() - start);

  std::vector<double> rounds;
  size_t nodes = 0, matched = 0;
  for (size_t count = kContext + 1; count <= text.size(); ++count) {
    const Tokens tokens(text.data(), count);
    const auto begin = Clock::now();
    index.extend(tokens);
    matches.clear();
    index.find(tokens, tokens, 4, matches);
    draft.build(matches, rates, {16, 16, 0.25F});
    rounds.push_back(microseconds(Clock::now() - begin));
    nodes += draft.nodes().size();
    matched += matches.empty() ? 0U : 1U;
  }
  std::sort(rounds.begin(), rounds.end());
  std::printf("%-28s prompt %7.0f us   proposal p50 %6.2f us  p99 %6.2f us  max %7.2f us   matched %3.0f %%  nodes %5.2f\n", name.c_str(),
              prompt, rounds[rounds.size() / 2], rounds[rounds.size() * 99 / 100], rounds.back(),
              100.0 * static_cast<double>(matched) / static_cast<double>(rounds.size()),
              static_cast<double>(nodes) / static_cast<double>(rounds.size()));
}

}  // namespace

int main() {
  std::mt19937 random(1);
  const size_t length = kContext + kRounds;
  std::vector<int32_t> different, skewed, phrases, one;
  std::vector<std::vector<int32_t>> phrase_book(300);
  for (auto& phrase : phrase_book) {
    for (uint32_t i = 0; i < 5 + random() % 20; ++i) phrase.push_back(static_cast<int32_t>(random() % 30000));
  }
  while (different.size() < length) {
    different.push_back(static_cast<int32_t>(different.size()));
    // About as uneven as words are: few tokens make most of the text, so chains in the index are long.
    const double u = (static_cast<double>(random() % 100000) + 1) / 100001.0;
    skewed.push_back(static_cast<int32_t>(40.0 / u));
    one.push_back(7);
  }
  while (phrases.size() < length) {
    const auto& phrase = phrase_book[random() % phrase_book.size()];
    phrases.insert(phrases.end(), phrase.begin(), phrase.end());
  }
  phrases.resize(length);
  measure("no two tokens alike", different);
  measure("uneven random tokens", skewed);
  measure("phrases that come again", phrases);
  measure("one token throughout", one);
}
