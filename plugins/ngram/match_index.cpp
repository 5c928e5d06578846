#include "ngram/match_index.hpp"

#include <algorithm>
#include <bit>

namespace ngram {
namespace {

constexpr size_t kSmallest = 256;  // positions of the first table

// Extends the hash of tokens p-n+2 … p by token p-n+1, so that all n of one position cost one multiplication each.
uint64_t mix(uint64_t hash, int32_t token) {
  hash = (hash ^ static_cast<uint32_t>(token)) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29);
}

size_t capacity_for(size_t tokens) { return std::bit_ceil(std::max(tokens, kSmallest)); }

// Two slots for each n-gram keep the chains of different n-grams mostly apart.
size_t slots_for(size_t capacity) { return capacity * 2; }

}  // namespace

MatchIndex::MatchIndex(uint32_t min_n, uint32_t max_n) : min_n_(min_n), max_n_(max_n), widths_(max_n - min_n + 1) {}

uint64_t MatchIndex::bytes_for(uint64_t tokens, uint32_t min_n, uint32_t max_n) {
  const size_t capacity = capacity_for(tokens), widths = max_n - min_n + 1;
  return (slots_for(capacity) + capacity) * widths * sizeof(uint32_t);
}

void MatchIndex::reserve(size_t tokens) {
  if (capacity_for(tokens) > capacity_ && indexed_ == 0) rebuild({}, capacity_for(tokens));
}

void MatchIndex::rebuild(Tokens tokens, size_t capacity) {
  const size_t indexed = indexed_;
  heads_.assign(slots_for(capacity) * widths_, 0);
  previous_.assign(capacity * widths_, 0);
  capacity_ = capacity;
  for (indexed_ = 0; indexed_ < indexed; ++indexed_) insert(tokens, indexed_);
}

void MatchIndex::insert(Tokens tokens, size_t position) {
  uint64_t hash = 0;
  const auto longest = static_cast<uint32_t>(std::min<size_t>(max_n_, position + 1));
  for (uint32_t n = 1; n <= longest; ++n) {
    const int32_t token = tokens[position + 1 - n];
    if (token < 0) return;  // a document break: no n-gram spans it
    hash = mix(hash, token);
    if (n < min_n_) continue;
    uint32_t& head = heads_[slot(hash, n)];
    previous_[position * widths_ + (n - min_n_)] = head;
    head = static_cast<uint32_t>(position) + 1;
  }
}

void MatchIndex::extend(Tokens tokens) {
  if (tokens.empty()) return;
  const size_t end = tokens.size() - 1;
  if (end > capacity_) rebuild(tokens, capacity_for(end));
  for (; indexed_ < end; ++indexed_) insert(tokens, indexed_);
}

void MatchIndex::truncate(size_t count) {
  if (count > indexed_) return;
  // The chains of what is cut run through what stays, and the tokens to find them by are gone: begin again at the next extend(). Cuts are
  // rare (a request that was preempted), and this costs what its prompt cost.
  std::fill(heads_.begin(), heads_.end(), 0);
  indexed_ = 0;
}

void MatchIndex::find(Tokens tokens, Tokens query, size_t most, std::vector<Match>& found) const {
  if (heads_.empty() || most == 0) return;
  const size_t first = found.size();
  const bool own = tokens.data() == query.data() && tokens.size() == query.size();
  uint64_t hashes[kLargestN + 1];
  uint64_t hash = 0;
  uint32_t longest = 0;
  for (uint32_t n = 1; n <= max_n_ && n <= query.size() && query[query.size() - n] >= 0; ++n) {
    hashes[n] = hash = mix(hash, query[query.size() - n]);
    longest = n;
  }
  for (uint32_t n = longest; n >= min_n_ && n > 0 && found.size() - first < most; --n) {
    uint32_t entry = heads_[slot(hashes[n], n)];
    for (uint32_t walked = 0; entry != 0 && walked < kWalk; ++walked) {
      const size_t position = entry - 1;
      entry = previous_[position * widths_ + (n - min_n_)];
      uint32_t length = 0;
      while (length < kLongest && length <= position && length < query.size() &&
             tokens[position - length] == query[query.size() - 1 - length] && tokens[position - length] >= 0) {
        ++length;
      }
      // Shorter: a collision. Longer than n where a longer n was looked up: found there, or further back than the walk goes.
      if (length < n || (length > n && n < longest)) continue;
      const int32_t* next = tokens.data() + position + 1;
      const int32_t* end = std::find_if(next, std::min(next + kLongest * 4, tokens.end()), [](int32_t token) { return token < 0; });
      if (next == end) continue;
      found.push_back({next, static_cast<uint32_t>(end - next), length, own && end == tokens.end()});
    }
    // Each n's matches are longer than those of the next n, except at the largest n, where they must be put in order.
    const auto longer = [](const Match& a, const Match& b) { return a.length > b.length; };
    if (n == longest) std::stable_sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(), longer);
  }
  if (found.size() - first > most) found.resize(first + most);
}

}  // namespace ngram
