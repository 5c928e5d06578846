// How long a draft should be. A draft of k tokens makes the target's pass cost t(1 + k) instead of t(1), and is worth the tokens it
// is expected to have accepted; both are measured. The planner can only change the speed: the tokens are the target's whatever it says.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scheduler/cost_curve.hpp"
#include "verify/draft_tree.hpp"

namespace outrider::scheduler {

// How often drafts of one kind were right, by depth, with the past fading so that a change of the text shows within some rounds.
class AcceptanceHistory {
 public:
  static constexpr int32_t kDepths = 32;  // deeper nodes count as the last

  // One round: the longest path proposed had `proposed` nodes, of which the first `accepted` were right.
  void record(int32_t proposed, int32_t accepted);

  // The chance that a node at `depth` (1 is the first) is right when its parent was, drawn towards `prior` while little is known.
  [[nodiscard]] double rate(int32_t depth, const AcceptanceHistory* prior = nullptr) const;

 private:
  std::array<float, kDepths> trials_{}, hits_{};
};

// Whether a drafter's own estimates (log_q) come true, over all its drafts, the past fading. An estimate is multiplied by factor().
class Calibration {
 public:
  // One round: `expected` is the sum of the estimated chances of the nodes that were verified, `correct` how many were accepted.
  void record(double expected, int32_t correct);
  [[nodiscard]] double factor() const;

 private:
  double expected_ = 0, correct_ = 0;
};

// The chance of each node to be accepted, with all its ancestors, from log_q, into `chances`. Empty when the draft gives none.
void joint_chances(const verify::DraftTree& draft, std::vector<double>& chances);

// What else is in the pass that a draft would join, and how long the contexts in it are.
struct PassSetting {
  int32_t other_rows = 0;
  double other_tokens = 0;  // expected of those rows
  double context = 0;       // positions
};

class DraftPlanner {
 public:
  explicit DraftPlanner(CostCurve curve) : curve_(std::move(curve)) {}

  // The number of draft tokens, at most `most`, that maximises expected tokens a second for a request that shares its pass with
  // others as `pass` says. 0 when drafting does not pay.
  [[nodiscard]] int32_t budget(const AcceptanceHistory& own, const AcceptanceHistory& all, int32_t most, const PassSetting& pass) const;

  // How many of a draft's nodes, from the first on, are worth their rows, given their chances (joint_chances, calibrated by `factor`).
  [[nodiscard]] int32_t worth(const std::vector<double>& chances, double factor, const PassSetting& pass) const;

  [[nodiscard]] const CostCurve& curve() const { return curve_; }

 private:
  CostCurve curve_;
};

}  // namespace outrider::scheduler
