// Where did these words stand before? An index of all n-grams (min_n … max_n) of a growing token sequence, by a hash of their tokens.
// Looking up costs a few cache lines whatever the length of the sequence; extending costs the same for each new token. It keeps positions
// only: the tokens themselves are the caller's and must be passed again, unchanged in the part already indexed. Hash collisions are found
// by comparing tokens, so a match is always a true one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "outrider/plugin.hpp"

namespace ngram {

using Tokens = outrider::sdk::View<const int32_t>;

struct Match {
  const int32_t* next;   // what followed, `room` tokens up to the end of the sequence or the next document break
  uint32_t room;         // at least 1
  uint32_t length;       // how many tokens before `next` equal the end of the query, at most MatchIndex::kLongest
  bool repeats = false;  // `next` runs into the query's own end: what follows it there is `next` again, as in a text that repeats itself

  // The token `depth` places on; only where has().
  [[nodiscard]] int32_t at(uint32_t depth) const { return next[repeats ? depth % room : depth]; }
  [[nodiscard]] bool has(uint32_t depth) const { return repeats || depth < room; }
};

class MatchIndex {
 public:
  static constexpr uint32_t kLongest = 32;  // longer matches count as this
  static constexpr uint32_t kLargestN = 16;

  // 1 <= min_n <= max_n <= kLargestN.
  MatchIndex(uint32_t min_n, uint32_t max_n);

  // Makes room for `tokens` tokens, so that extending up to there does not rebuild the table.
  void reserve(size_t tokens);

  // Indexes what is new in `tokens` since the last call. The very last token waits until something follows it.
  void extend(Tokens tokens);

  // The sequence was cut to `count` tokens.
  void truncate(size_t count);

  // Appends to `found` up to `most` matches of the end of `query` in `tokens` (the indexed sequence, which may be the query itself):
  // longest first, among equals the most recent first. Walks at most kWalk candidates for each n.
  void find(Tokens tokens, Tokens query, size_t most, std::vector<Match>& found) const;

  [[nodiscard]] size_t bytes() const { return (heads_.capacity() + previous_.capacity()) * sizeof(uint32_t); }
  // Bytes an index of `tokens` tokens takes.
  static uint64_t bytes_for(uint64_t tokens, uint32_t min_n, uint32_t max_n);

 private:
  static constexpr uint32_t kWalk = 16;

  void rebuild(Tokens tokens, size_t capacity);
  void insert(Tokens tokens, size_t position);
  [[nodiscard]] size_t slot(uint64_t hash, uint32_t n) const { return (hash & (2 * capacity_ - 1)) * widths_ + (n - min_n_); }

  uint32_t min_n_, max_n_;
  size_t widths_;                   // max_n - min_n + 1
  size_t indexed_ = 0;              // n-grams that end at [0, indexed_) are in
  size_t capacity_ = 0;             // positions previous_ has room for, a power of two
  std::vector<uint32_t> heads_;     // (2 capacity, widths): by hash and n, the last position with such an n-gram, plus 1; 0: none
  std::vector<uint32_t> previous_;  // (capacity, widths): the position before with the same hash and n, plus 1; 0: none
};

}  // namespace ngram
