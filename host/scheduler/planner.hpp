// How long a draft should be. A draft of k tokens makes the target's pass cost t(1 + k) instead of t(1), and is worth the tokens it
// is expected to have accepted; both are measured. The planner can only change the speed: the tokens are the target's whatever it says.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

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

// The chance of each node to be accepted, with all its ancestors, from log_q. Empty when the draft gives none.
std::vector<double> joint_chances(const verify::DraftTree& draft);

class DraftPlanner {
 public:
  // cost[m] is the time of a pass over m rows relative to one row, for m from 1 (cost[0] is not read); beyond its end it goes on linearly.
  explicit DraftPlanner(std::vector<double> cost) : cost_(std::move(cost)) {}

  // The number of draft tokens, at most `most`, that maximises expected tokens a second for a request that shares its pass with
  // `other_rows` rows expected to yield `other_tokens` tokens. 0 when drafting does not pay.
  [[nodiscard]] int32_t budget(const AcceptanceHistory& own, const AcceptanceHistory& all, int32_t most, int32_t other_rows, double other_tokens) const;

  // How many of a draft's nodes, from the first on, are worth their rows, given their chances (joint_chances, calibrated by `factor`).
  [[nodiscard]] int32_t worth(const std::vector<double>& chances, double factor, int32_t other_rows, double other_tokens) const;

  [[nodiscard]] double cost(int32_t rows) const;
  [[nodiscard]] const std::vector<double>& curve() const { return cost_; }

 private:
  std::vector<double> cost_;
};

}  // namespace outrider::scheduler
