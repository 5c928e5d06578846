#include "scheduler/planner.hpp"

#include <algorithm>
#include <cmath>

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

void Calibration::record(double expected, int32_t correct) {
  expected_ = expected_ * static_cast<double>(kFade) + expected;
  correct_ = correct_ * static_cast<double>(kFade) + correct;
}

double Calibration::factor() const { return std::clamp((correct_ + kPriorRounds) / (expected_ + kPriorRounds), 0.1, 2.0); }

void joint_chances(const verify::DraftTree& draft, std::vector<double>& chances) {
  chances.clear();
  if (draft.log_q.size() != draft.tokens.size()) return;
  for (size_t i = 0; i < draft.log_q.size(); ++i) {
    const int32_t parent = draft.parents[i];
    chances.push_back(std::exp(static_cast<double>(draft.log_q[i])) * (parent < 0 ? 1.0 : chances[static_cast<size_t>(parent)]));
  }
}

int32_t DraftPlanner::worth(const std::vector<double>& chances, double factor, const PassSetting& pass) const {
  double best = (pass.other_tokens + 1) / curve_.cost(pass.other_rows + 1, pass.context) * kMargin, expected = 1;
  int32_t best_length = 0;
  for (size_t i = 0; i < chances.size(); ++i) {
    expected += std::min(1.0, chances[i] * factor);
    const auto length = static_cast<int32_t>(i) + 1;
    const double speed = (pass.other_tokens + expected) / curve_.cost(pass.other_rows + 1 + length, pass.context);
    if (speed > best) best = speed, best_length = length;
  }
  return best_length;
}

int32_t DraftPlanner::budget(const AcceptanceHistory& own, const AcceptanceHistory& all, int32_t most, const PassSetting& pass) const {
  const double plain = (pass.other_tokens + 1) / curve_.cost(pass.other_rows + 1, pass.context);
  double best = plain * kMargin, reached = 1, expected = 1;
  int32_t best_length = 0;
  for (int32_t length = 1; length <= most; ++length) {
    reached *= own.rate(length, &all);
    expected += reached;
    const double speed = (pass.other_tokens + expected) / curve_.cost(pass.other_rows + 1 + length, pass.context);
    if (speed > best) best = speed, best_length = length;
  }
  return best_length;
}

}  // namespace outrider::scheduler
