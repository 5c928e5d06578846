// Acceptance: walks a draft tree from the root, asking the law for the target's own token at each node reached, and follows the child
// that equals it. What is emitted is always the target's choice; the draft decides only how many rows of one pass are of use.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "verify/draft_tree.hpp"
#include "verify/token_law.hpp"

namespace outrider::verify {

struct Acceptance {
  std::vector<int32_t> nodes;   // accepted nodes, root to leaf
  std::vector<int32_t> tokens;  // their tokens, then the bonus token
};

// `row(node)` is the logits row of a node (-1: the root), `position` the absolute position of the token after the root. The law observes
// each token as it is emitted, so that penalties see the drafted prefix. `keep_going(token)` is asked after each token; false ends the
// walk there (a stop token, a full output). Errors: the law's.
Result<Acceptance> accept(const DraftTree& draft, TokenLaw& law, int64_t position, const std::function<std::span<const float>(int32_t node)>& row,
                          const std::function<bool(int32_t token)>& keep_going);

}  // namespace outrider::verify
