#include "drafting/guard.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace outrider::drafting {
namespace {

constexpr float kRounding = 1e-3F;  // what a sum of float probabilities may miss 1 by

std::string at(size_t node) { return "node " + std::to_string(node) + ": "; }

}  // namespace

std::string draft_fault(std::span<const int32_t> tokens, std::span<const int32_t> parents, std::span<const float> log_q, int32_t max_depth,
                        const DraftRules& rules) {
  // One slot a node and one for the root, which is node -1: depth, last child seen, next older sibling, and the children's probability.
  struct Slot {
    int32_t depth = 0, youngest = -1, older = -1;
    float children_q = 0.0F;
  };
  thread_local std::vector<Slot> slots;  // kept for its memory
  slots.assign(tokens.size() + 1, {});
  for (size_t i = 0; i < tokens.size(); ++i) {
    const int32_t token = tokens[i], parent = parents[i];
    if (token < 0 || token >= rules.vocab_size) {
      return at(i) + "token id " + std::to_string(token) + " is outside the vocabulary of " + std::to_string(rules.vocab_size);
    }
    if (parent < -1 || parent >= static_cast<int32_t>(i)) {
      return at(i) + "parent " + std::to_string(parent) + " is neither -1 nor an earlier node";
    }
    Slot& up = slots[static_cast<size_t>(parent + 1)];
    Slot& own = slots[i + 1];
    own.depth = up.depth + 1;
    if (own.depth > max_depth)
      return at(i) + "depth " + std::to_string(own.depth) + " is more than the " + std::to_string(max_depth) + " allowed";
    if (up.youngest >= 0 && !rules.trees)
      return at(i) + "a second child of node " + std::to_string(parent) + " where only chains are allowed";
    for (int32_t sibling = up.youngest; sibling >= 0; sibling = slots[static_cast<size_t>(sibling) + 1].older) {
      if (tokens[static_cast<size_t>(sibling)] == token) {
        return at(i) + "token id " + std::to_string(token) + " is the same as its sibling node " + std::to_string(sibling);
      }
    }
    own.older = up.youngest;
    up.youngest = static_cast<int32_t>(i);
    if (!log_q.empty()) {
      if (!std::isfinite(log_q[i]) || log_q[i] > kRounding) {
        return at(i) + "log_q " + std::to_string(log_q[i]) + " is not the logarithm of a probability";
      }
      up.children_q += std::exp(log_q[i]);
      if (rules.probabilities && up.children_q > 1.0F + kRounding) {
        return at(i) + "the probabilities of the children of node " + std::to_string(parent) + " add up to more than 1";
      }
    }
  }
  return {};
}

bool CircuitBreaker::begin_round() {
  if (state_ == State::locked) return false;
  if (state_ == State::open && --left_ <= 0) state_ = State::half_open;
  return state_ != State::open;
}

void CircuitBreaker::good() {
  if (state_ == State::locked || state_ == State::open) return;
  state_ = State::closed;
  in_a_row_ = 0;
  if (++good_in_a_row_ >= kForgiven) pause_ = kFirstPause;
}

void CircuitBreaker::strike() {
  good_in_a_row_ = 0;
  if (state_ == State::half_open || ++in_a_row_ >= strikes_) open();
}

void CircuitBreaker::open() {
  if (state_ == State::locked || state_ == State::open) return;
  const bool again = state_ == State::half_open;
  if (again) pause_ = std::min(pause_ * 2, kLongestPause);
  state_ = State::open;
  left_ = pause_;
  in_a_row_ = good_in_a_row_ = 0;
}

}  // namespace outrider::drafting
