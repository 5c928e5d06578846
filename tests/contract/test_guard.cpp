#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "drafting/guard.hpp"

using namespace outrider::drafting;
using Catch::Matchers::Contains;

namespace {

const DraftRules kTrees = {10, true, true, false};

std::string judge(std::vector<int32_t> tokens, std::vector<int32_t> parents, std::vector<float> log_q, DraftRules rules = kTrees) {
  return draft_fault(tokens, parents, log_q, 8, rules);
}

}  // namespace

TEST_CASE("a tree with distinct siblings is a valid draft and equal cousins are no siblings") {
  CHECK(judge({1, 2, 3, 3}, {-1, -1, 0, 1}, {-1, -1, -1, -1}) == "");
}

TEST_CASE("probabilities of siblings may add up to one and no more when they are the drafter's law") {
  const float half = std::log(0.5F), most = std::log(0.6F);
  const DraftRules law = {10, true, true, true};
  CHECK(judge({1, 2}, {-1, -1}, {half, half}, law) == "");
  CHECK_THAT(judge({1, 2}, {-1, -1}, {half, most}, law), Contains("add up to more than 1"));
  CHECK(judge({1, 2}, {-1, -1}, {half, most}) == "");  // mere confidence may
}

TEST_CASE("the breaker opens after the given faults in a row and not before") {
  CircuitBreaker breaker(3);
  for (int i = 0; i < 10; ++i) {
    breaker.strike(), breaker.strike(), breaker.good();
    REQUIRE(breaker.state() == CircuitBreaker::State::closed);
  }
  breaker.strike(), breaker.strike(), breaker.strike();
  CHECK(breaker.state() == CircuitBreaker::State::open);
}

TEST_CASE("an open breaker pauses, tries once, and pauses twice as long when the trial fails") {
  CircuitBreaker breaker(1);
  breaker.strike();
  int64_t paused = 0;
  while (!breaker.begin_round()) ++paused;
  CHECK(paused == CircuitBreaker::kFirstPause - 1);  // the round that ends the pause is the trial
  CHECK(breaker.state() == CircuitBreaker::State::half_open);
  breaker.strike();
  paused = 0;
  while (!breaker.begin_round()) ++paused;
  CHECK(paused == 2 * CircuitBreaker::kFirstPause - 1);
  breaker.good();
  CHECK(breaker.state() == CircuitBreaker::State::closed);
}

TEST_CASE("the pause never exceeds its limit and is forgiven after many good rounds") {
  CircuitBreaker breaker(1);
  for (int i = 0; i < 20; ++i) {
    breaker.strike();
    while (!breaker.begin_round()) {
    }
  }
  CHECK(breaker.pause() == CircuitBreaker::kLongestPause);
  for (int64_t i = 0; i < CircuitBreaker::kForgiven; ++i) breaker.good();
  CHECK(breaker.pause() == CircuitBreaker::kFirstPause);
}

TEST_CASE("a locked breaker stays locked") {
  CircuitBreaker breaker(3);
  breaker.lock();
  breaker.good(), breaker.strike(), breaker.open();
  CHECK(breaker.state() == CircuitBreaker::State::locked);
  for (int64_t i = 0; i < 2 * CircuitBreaker::kLongestPause; ++i) REQUIRE_FALSE(breaker.begin_round());
}
