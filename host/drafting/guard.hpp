// The guard's two judgements: is this draft one that may be verified, and is this drafter one that may still be asked. It holds no plugin
// and makes no call; PluginDrafter asks it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace outrider::drafting {

// What a drafter has declared and what the host allows.
struct DraftRules {
  int32_t vocab_size = 0;
  bool trees = false;          // the draft may branch
  bool log_q = false;          // log_q is given
  bool probabilities = false;  // … and is the law the nodes were drawn from, so siblings sum to at most 1
};

// What is wrong with a draft of n nodes, in one sentence; empty when nothing is: ids in [0, vocab_size), parents -1 or earlier nodes,
// depth at most max_depth, siblings distinct, a chain where it must be one, log_q finite and at most 0 (with a little rounding). `log_q`
// is empty when it is not given. Costs O(n + siblings).
std::string draft_fault(std::span<const int32_t> tokens, std::span<const int32_t> parents, std::span<const float> log_q, int32_t max_depth,
                        const DraftRules& rules);

// Whether a drafter that fails is still asked. Closed: yes. After some faults in a row it opens: no, for a number of rounds that doubles
// with each opening. Then half open: one request as a trial, which closes or opens it again. Locked: never again.
// Counted in rounds and not in seconds, so that what happened can be told from the log and repeated in a test.
class CircuitBreaker {
 public:
  static constexpr int64_t kFirstPause = 64;  // rounds
  static constexpr int64_t kLongestPause = 16384;
  static constexpr int64_t kForgiven = 256;  // good rounds in a row after which the pause is short again

  explicit CircuitBreaker(int64_t strikes) : strikes_(strikes) {}
  void set_strikes(int64_t strikes) { strikes_ = strikes; }  // counts from the next fault on

  enum class State { closed, open, half_open, locked };
  [[nodiscard]] State state() const { return state_; }

  // A round begins; true when the drafter may be asked.
  bool begin_round();
  void good();    // the round went well
  void strike();  // a fault; opens after `strikes` in a row, or in a trial
  void open();    // at once: the contract was broken
  void lock() { state_ = State::locked; }
  [[nodiscard]] int64_t pause() const { return pause_; }  // rounds of the current or next opening

 private:
  int64_t strikes_;
  State state_ = State::closed;
  int64_t in_a_row_ = 0, good_in_a_row_ = 0;
  int64_t pause_ = kFirstPause, left_ = 0;
};

}  // namespace outrider::drafting
