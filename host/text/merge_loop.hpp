// The loop that byte-level BPE and SentencePiece-style vocabularies share: start from small symbols and join the best adjacent
// pair until none can be joined. A linked list of symbols and a heap of candidates, so n symbols take O(n log n) whatever they
// are. The caller says which pairs join and how good that is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace outrider::text {

struct Symbol {
  uint32_t start;    // byte offset in the word
  uint32_t length;   // bytes; 0 once it was joined to the symbol on its left
  int32_t id;        // the caller's name for it
  int32_t previous;  // index of the neighbour; -1: none
  int32_t next;
};

struct Join {
  uint32_t rank;   // lower joins first; where equal, the leftmost
  int32_t result;  // id of the joined symbol; -1: the pair does not join
};

class MergeLoop {
 public:
  // Starts a word. Then add its symbols from left to right.
  void clear() { symbols_.clear(); }
  void add(size_t start, size_t length, int32_t id) {
    const auto index = static_cast<int32_t>(symbols_.size());
    if (index > 0) symbols_.back().next = index;
    symbols_.push_back({static_cast<uint32_t>(start), static_cast<uint32_t>(length), id, index - 1, -1});
  }

  // Joins pairs until none joins. `join(left, right)` -> Join depends on the two symbols alone.
  template <class Function>
  void run(Function&& join) {
    candidates_.clear();
    for (size_t i = 0; i + 1 < symbols_.size(); ++i) propose(static_cast<int32_t>(i), join);
    std::make_heap(candidates_.begin(), candidates_.end(), std::greater<>());
    while (!candidates_.empty()) {
      std::pop_heap(candidates_.begin(), candidates_.end(), std::greater<>());
      const Candidate best = candidates_.back();
      candidates_.pop_back();
      Symbol& left = at(static_cast<int32_t>(best.order & 0xFFFFFFFFu));
      // A pair that starts at one symbol only ever grows, so an equal length means that neither side has changed since.
      if (left.length == 0 || left.next < 0 || left.length + at(left.next).length != best.length) continue;
      Symbol& right = at(left.next);
      left.length = best.length;
      left.id = best.result;
      left.next = right.next;
      right.length = 0;
      const auto index = static_cast<int32_t>(&left - symbols_.data());
      if (left.next >= 0) {
        at(left.next).previous = index;
        if (propose(index, join)) std::push_heap(candidates_.begin(), candidates_.end(), std::greater<>());
      }
      if (left.previous >= 0 && propose(left.previous, join)) {
        std::push_heap(candidates_.begin(), candidates_.end(), std::greater<>());
      }
    }
  }

  // Calls `visit(symbol)` for what is left, from left to right.
  template <class Function>
  void for_each(Function&& visit) const {
    for (size_t i = 0; i < symbols_.size();) {
      visit(symbols_[i]);
      if (symbols_[i].next < 0) return;
      i = static_cast<size_t>(symbols_[i].next);
    }
  }

  [[nodiscard]] size_t memory() const {
    return symbols_.capacity() * sizeof(Symbol) + candidates_.capacity() * sizeof(Candidate);
  }

 private:
  struct Candidate {
    uint64_t order;   // rank << 32 | index of the left symbol
    uint32_t length;  // bytes of both symbols when it was proposed
    int32_t result;
    bool operator>(const Candidate& other) const { return order > other.order; }
  };

  Symbol& at(int32_t index) { return symbols_[static_cast<size_t>(index)]; }

  template <class Function>
  bool propose(int32_t index, Function& join) {
    const Symbol& left = at(index);
    const Symbol& right = at(left.next);
    const Join joined = join(left, right);
    if (joined.result < 0) return false;
    candidates_.push_back({static_cast<uint64_t>(joined.rank) << 32 | static_cast<uint32_t>(index),
                           left.length + right.length, joined.result});
    return true;
  }

  std::vector<Symbol> symbols_;
  std::vector<Candidate> candidates_;
};

}  // namespace outrider::text
