// A draft: what a drafter proposes for one request in one round. A chain is a tree without branches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace outrider::verify {

struct DraftTree {
  std::vector<int32_t> tokens;   // node i's token
  std::vector<int32_t> parents;  // node i's parent: -1 is the root (the last emitted token), else an earlier node
  std::vector<float> log_q;      // node i's probability in the drafter's eyes, as a natural logarithm; empty when not given

  [[nodiscard]] int32_t size() const { return static_cast<int32_t>(tokens.size()); }
  // Keeps the first `nodes` nodes; since parents stand before children, what is left is a tree.
  void truncate(int32_t nodes) {
    tokens.resize(static_cast<std::size_t>(nodes)), parents.resize(static_cast<std::size_t>(nodes));
    if (!log_q.empty()) log_q.resize(static_cast<std::size_t>(nodes));
  }
  void clear() { tokens.clear(), parents.clear(), log_q.clear(); }
};

}  // namespace outrider::verify
