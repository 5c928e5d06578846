// From matches to a draft: a tree of their continuations, merged by common prefix, the most promising node first. With room for one match
// it is a chain. The builder remembers the draft so that its outcome can be counted.
#pragma once

#include <cstdint>
#include <vector>

#include "ngram/hit_rates.hpp"
#include "ngram/match_index.hpp"

namespace ngram {

struct Budget {
  uint32_t max_nodes, max_depth;
  float min_chance;  // of a node with all its ancestors
};

class DraftBuilder {
 public:
  struct Node {
    int32_t token, parent;
    uint32_t depth;   // 1: a child of the root
    uint32_t length;  // tokens matched before it, its ancestors included
    float chance;     // given its parent
    float joint;      // with all its ancestors
  };

  // Replaces the draft by one of `matches` (best first), at most budget.max_nodes nodes, parents first, siblings best first.
  void build(const std::vector<Match>& matches, const HitRates& rates, Budget budget);

  // Counts what came true: `path` is the text that really followed the root.
  void score(const std::vector<int32_t>& path, HitRates& rates) const;

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  void clear() { nodes_.clear(); }

 private:
  std::vector<Node> nodes_;
  struct Cursor {
    int32_t node;  // the last node of this match that is in the draft; -1: the root
    uint32_t depth;
    bool open;
  };
  std::vector<Cursor> cursors_;  // one a match
};

}  // namespace ngram
