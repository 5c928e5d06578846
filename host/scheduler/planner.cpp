#include "scheduler/planner.hpp"

#include <algorithm>

namespace outrider::scheduler {
namespace {

constexpr float kFade = 0.95F;        // a round's weight after 14 more rounds is one half
constexpr double kPriorRounds = 4;    // how many rounds the prior counts for
constexpr double kUnknownRate = 0.7;  // before anything was measured: try, and learn
constexpr double kMargin = 1.02;      // drafting must promise this much more than plain decoding

}  // namespace

void AcceptanceHistory::record(int32_t proposed, int32_t accepted) {
  for (int32_t depth = 1; depth <= std::min(proposed, kDepths) && depth <= accepted + 1; ++depth) {
    const auto i = static_cast<size_t>(depth - 1);
    trials_[i] = trials_[i] * kFade + 1;
    hits_[i] = hits_[i] * kFade + (depth <= accepted ? 1.0F : 0.0F);
  }
}

double AcceptanceHistory::rate(int32_t depth, const AcceptanceHistory* prior) const {
  const auto i = static_cast<size_t>(std::min(depth, kDepths) - 1);
  const double expected = prior != nullptr ? prior->rate(depth) : kUnknownRate;
  return (hits_[i] + kPriorRounds * expected) / (trials_[i] + kPriorRounds);
}

double DraftPlanner::cost(int32_t rows) const {
  const auto last = static_cast<int32_t>(cost_.size()) - 1;
  if (last < 1) return 1.0;
  if (rows <= last) return cost_[static_cast<size_t>(std::max(rows, 1))];
  const double slope = last > 1 ? (cost_[static_cast<size_t>(last)] - cost_[static_cast<size_t>(last / 2)]) / (last - last / 2) : 1.0;
  return cost_[static_cast<size_t>(last)] + slope * (rows - last);
}

int32_t DraftPlanner::budget(const AcceptanceHistory& own, const AcceptanceHistory& all, int32_t most, int32_t other_rows, double other_tokens) const {
  const double plain = (other_tokens + 1) / cost(other_rows + 1);
  double best = plain * kMargin, reached = 1, expected = 1;
  int32_t best_length = 0;
  for (int32_t length = 1; length <= most; ++length) {
    reached *= own.rate(length, &all);
    expected += reached;
    const double speed = (other_tokens + expected) / cost(other_rows + 1 + length);
    if (speed > best) best = speed, best_length = length;
  }
  return best_length;
}

}  // namespace outrider::scheduler
