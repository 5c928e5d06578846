// Acceptance: walks a draft tree from the root, asking the law for the target's own token at each node reached, and follows the child
// that equals it. What is emitted is always the target's choice; the draft decides only how many rows of one pass are of use.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "verify/draft_tree.hpp"
#include "verify/token_law.hpp"

namespace outrider::verify {

struct Acceptance {
  std::vector<int32_t> nodes;   // accepted nodes, root to leaf
  std::vector<int32_t> tokens;  // their tokens, then the bonus token
  void clear() { nodes.clear(), tokens.clear(); }
};

// The first child of `node` (-1: the root) that proposes `token`, or -1.
int32_t child_with(const DraftTree& draft, int32_t node, int32_t token);

// `row(node)` is the target's row of a node (-1: the root), `position` the absolute position of the token after the root. The law observes
// each token as it is emitted, so that penalties see the drafted prefix. `keep_going(token)` is asked after each token; false ends the
// walk there (a stop token, a full output). `result` is overwritten; its memory is used again. Errors: the law's.
template <class Row, class KeepGoing>
Result<void> accept(const DraftTree& draft, TokenLaw& law, int64_t position, Row&& row, KeepGoing&& keep_going, Acceptance& result) {
  result.clear();
  for (int32_t node = -1;; ++position) {
    OUTRIDER_TRY(const int32_t token, law.choose(row(node), position));
    law.observe(token);
    result.tokens.push_back(token);
    if (!keep_going(token)) return {};
    node = child_with(draft, node, token);
    if (node < 0) return {};
    result.nodes.push_back(node);
  }
}

}  // namespace outrider::verify
