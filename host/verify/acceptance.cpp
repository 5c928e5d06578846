#include "verify/acceptance.hpp"

namespace outrider::verify {

int32_t child_with(const DraftTree& draft, int32_t node, int32_t token) {
  for (int32_t i = node + 1; i < draft.size(); ++i) {
    if (draft.parents[static_cast<size_t>(i)] == node && draft.tokens[static_cast<size_t>(i)] == token) return i;
  }
  return -1;
}

}  // namespace outrider::verify
