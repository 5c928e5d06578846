#include "ngram/draft_builder.hpp"

#include <algorithm>

namespace ngram {

void DraftBuilder::build(const std::vector<Match>& matches, const HitRates& rates, Budget budget) {
  nodes_.clear();
  cursors_.assign(matches.size(), {-1, 0, true});
  while (nodes_.size() < budget.max_nodes) {
    Node best = {0, -1, 0, 0, 0.0F, -1.0F};
    size_t best_match = 0;
    for (size_t m = 0; m < matches.size(); ++m) {
      Cursor& cursor = cursors_[m];
      const Match& match = matches[m];
      // Follow what other matches have already put there; the chance left for a new sibling is what the others leave over.
      float left = 1.0F;
      for (bool moved = true; moved && cursor.open;) {
        moved = false;
        if (!match.has(cursor.depth) || cursor.depth >= budget.max_depth) {
          cursor.open = false;
          break;
        }
        left = 1.0F;
        for (size_t i = static_cast<size_t>(cursor.node + 1); i < nodes_.size(); ++i) {
          if (nodes_[i].parent != cursor.node) continue;
          left -= nodes_[i].chance;
          if (nodes_[i].token != match.at(cursor.depth)) continue;
          cursor = {static_cast<int32_t>(i), cursor.depth + 1, true};
          moved = true;
          break;
        }
      }
      if (!cursor.open) continue;
      const uint32_t length = match.length + cursor.depth;
      const float chance = std::max(left, 0.0F) * rates.rate(length);
      const float joint = chance * (cursor.node < 0 ? 1.0F : nodes_[static_cast<size_t>(cursor.node)].joint);
      if (joint > best.joint) {
        best = {match.at(cursor.depth), cursor.node, cursor.depth + 1, length, chance, joint};
        best_match = m;
      }
    }
    if (best.joint < budget.min_chance || best.joint <= 0.0F) return;
    nodes_.push_back(best);
    cursors_[best_match] = {static_cast<int32_t>(nodes_.size()) - 1, best.depth, true};
  }
}

void DraftBuilder::score(const std::vector<int32_t>& path, HitRates& rates) const {
  int32_t parent = -1;
  for (const int32_t token : path) {
    int32_t taken = -1;
    // A sibling's chance holds for the case that those before it were wrong, so it is on trial only then.
    for (size_t i = static_cast<size_t>(parent + 1); i < nodes_.size() && taken < 0; ++i) {
      if (nodes_[i].parent != parent) continue;
      const bool hit = nodes_[i].token == token;
      rates.record(nodes_[i].length, hit);
      if (hit) taken = static_cast<int32_t>(i);
    }
    if (taken < 0) return;
    parent = taken;
  }
}

}  // namespace ngram
