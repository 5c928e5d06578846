#include "scheduler/planner.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace outrider::scheduler;

namespace {

AcceptanceHistory history(int rounds, int proposed, int accepted) {
  AcceptanceHistory h;
  for (int i = 0; i < rounds; ++i) h.record(proposed, accepted);
  return h;
}

}  // namespace

TEST_CASE("a rate starts at its prior and goes to what was measured") {
  const AcceptanceHistory fresh;
  CHECK(fresh.rate(1) > 0.5);
  CHECK(history(100, 4, 4).rate(1) > 0.94);
  CHECK(history(100, 4, 0).rate(1) < 0.15);
  CHECK(history(100, 4, 2).rate(2) > 0.9);
  CHECK(history(100, 4, 2).rate(3) < 0.2);
}

TEST_CASE("nodes behind the first wrong one say nothing about their own rate") {
  const auto h = history(100, 8, 0);
  CHECK(h.rate(2) == Approx(AcceptanceHistory().rate(2)));
}

TEST_CASE("drafts are long where rows are free and drafts right, and none where they are wrong or rows cost full price") {
  const AcceptanceHistory all;
  const auto right = history(200, 8, 8), wrong = history(200, 8, 0);
  const DraftPlanner flat(CostCurve{{0, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {0, 0}});
  const DraftPlanner steep(CostCurve{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 0}});
  CHECK(flat.budget(right, all, 8, {}) == 8);
  CHECK(flat.budget(right, all, 3, {}) == 3);
  CHECK(steep.budget(right, all, 8, {}) == 0);
  const DraftPlanner usual(CostCurve{{0, 1, 1.1, 1.2, 1.3, 1.5, 1.7, 1.9, 2.1, 2.4}, {0, 0}});
  CHECK(usual.budget(right, all, 8, {}) >= 4);
  CHECK(usual.budget(wrong, wrong, 8, {}) == 0);
}

TEST_CASE("a draft is shorter when other requests have used the free rows up") {
  const AcceptanceHistory all;
  const auto good = history(200, 8, 3);
  std::vector<double> curve{0};
  for (int m = 1; m <= 40; ++m) curve.push_back(m <= 8 ? 1.0 : 1.0 + 0.25 * (m - 8));
  const DraftPlanner planner(CostCurve{curve, {0, 0}});
  CHECK(planner.budget(good, all, 8, {20, 20, 0}) <= planner.budget(good, all, 8, {}));
}

TEST_CASE("a long context makes rows dearer and drafts shorter") {
  const CostCurve curve{{0, 1, 1.1, 1.2, 1.3, 1.4}, {0, 0.0001, 0.0005, 0.001, 0.0015, 0.002}};
  CHECK(curve.cost(2, 1000) == Approx(1.6));
  const DraftPlanner planner(curve);
  const std::vector<double> chances{0.8, 0.6, 0.5, 0.4};
  CHECK(planner.worth(chances, 1.0, {0, 0, 0}) == 4);
  CHECK(planner.worth(chances, 1.0, {0, 0, 4000}) < 4);
}

TEST_CASE("joint chances multiply along each path, and a draft without estimates has none") {
  const outrider::verify::DraftTree tree{{1, 2, 3}, {-1, 0, -1}, {std::log(0.5F), std::log(0.5F), std::log(0.25F)}};
  std::vector<double> chances;
  joint_chances(tree, chances);
  REQUIRE(chances.size() == 3);
  CHECK(chances[0] == Approx(0.5));
  CHECK(chances[1] == Approx(0.25));
  CHECK(chances[2] == Approx(0.25));
  joint_chances({{1}, {-1}, {}}, chances);
  CHECK(chances.empty());
}

TEST_CASE("a draft is cut where the next node costs more than it brings") {
  const DraftPlanner planner(CostCurve{{0, 1, 1.2, 1.4, 1.6, 1.8}, {0, 0}});
  CHECK(planner.worth({0.9, 0.8, 0.7, 0.6}, 1.0, {}) == 4);
  CHECK(planner.worth({0.9, 0.8, 0.1, 0.1}, 1.0, {}) == 2);
  CHECK(planner.worth({0.1, 0.05}, 1.0, {}) == 0);
  CHECK(planner.worth({0.9, 0.8, 0.7, 0.6}, 0.1, {}) == 0);  // estimates that never come true
  CHECK(planner.worth({}, 1.0, {}) == 0);
}

TEST_CASE("calibration goes to the share of the estimates that came true") {
  Calibration calibration;
  CHECK(calibration.factor() == Approx(1.0));
  for (int i = 0; i < 200; ++i) calibration.record(4.0, 2);
  CHECK(calibration.factor() == Approx(0.5).margin(0.05));
}
