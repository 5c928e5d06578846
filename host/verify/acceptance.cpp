#include "verify/acceptance.hpp"

namespace outrider::verify {
namespace {

// The first child of `node` that proposes `token`, or -1.
int32_t child_with(const DraftTree& draft, int32_t node, int32_t token) {
  for (int32_t i = node + 1; i < draft.size(); ++i) {
    if (draft.parents[static_cast<size_t>(i)] == node && draft.tokens[static_cast<size_t>(i)] == token) return i;
  }
  return -1;
}

}  // namespace

Result<Acceptance> accept(const DraftTree& draft, TokenLaw& law, int64_t position, const std::function<std::span<const float>(int32_t)>& row,
                          const std::function<bool(int32_t)>& keep_going) {
  Acceptance result;
  for (int32_t node = -1;; ++position) {
    OUTRIDER_TRY(const int32_t token, law.choose(row(node), position));
    law.observe(token);
    result.tokens.push_back(token);
    if (!keep_going(token)) return result;
    node = child_with(draft, node, token);
    if (node < 0) return result;
    result.nodes.push_back(node);
  }
}

}  // namespace outrider::verify
