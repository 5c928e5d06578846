// A plugin behind the scheduler's Drafter interface, and the guard in front of it: one call a step for the whole batch, into memory the
// host owns, each draft validated before anyone sees it. Faults are counted and told; they never reach a request.
//
// A request the plugin has lost (left out by the breaker, or begun while it was) is begun again with all its tokens when the plugin is
// asked next, so a drafter that recovers serves it too.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "drafting/corpus_manager.hpp"
#include "drafting/drafter.hpp"
#include "drafting/guard.hpp"
#include "drafting/instance.hpp"
#include "drafting/plugin_call.hpp"

namespace outrider::drafting {

struct GuardOptions {
  std::chrono::nanoseconds deadline{std::chrono::milliseconds(20)};  // of one propose call; a later one is a strike
  int64_t strikes = 3;                                               // faults in a row that open the breaker
  bool chains_only = false;                                          // [spec] tree = false
};

class PluginDrafter final : public Drafter {
 public:
  // `options` is asked at each open() and propose(), on their thread, so that a reload takes effect at the next round.
  PluginDrafter(std::string name, int32_t vocab_size, std::unique_ptr<Instance> instance, std::function<GuardOptions()> options);
  ~PluginDrafter() override;

  // Corpora the plugin draws from; they go before the plugin does.
  void attach(std::unique_ptr<CorpusManager> corpora) { corpora_ = std::move(corpora); }

  bool open(uint64_t request, std::span<const int32_t> prompt, float temperature, uint64_t seed, int32_t max_new_tokens) override;
  void close(uint64_t request) override;
  void propose(std::span<DraftRequest> batch) override;
  void on_verified(std::span<const VerifiedRequest> batch) override;
  [[nodiscard]] bool proposes_trees() const override { return rules_.trees; }
  [[nodiscard]] DrafterReport report() const override;
  [[nodiscard]] CorpusManager* corpora() override { return corpora_.get(); }

 private:
  struct Sequence {
    outrider_request* handle = nullptr;  // null: the plugin does not know it (yet, or any more)
    uint32_t known = 0;                  // tokens it has seen
    float temperature = 0;
    uint64_t seed = 0;
    uint32_t max_new_tokens = 0;
    bool drafted = false;  // its last draft was handed on
  };
  struct Slot {  // one item of the call being made
    DraftRequest* request;
    Sequence* sequence;
    size_t buffers;  // offset in arena_
  };

  void follow_options();
  bool begin(uint64_t request, Sequence& sequence, std::span<const int32_t> tokens);
  void end(Sequence& sequence, int32_t reason);
  bool ready(DraftRequest& request, Sequence& sequence);
  void lay_out();
  bool canaries_intact();
  std::string take(const Slot& slot, const outrider_propose_item& item, const std::string& message);
  void fault(const std::string& text, bool breach);
  void fault(const CallOutcome& outcome, const char* where);
  void quarantine(const std::string& text);
  void log_fault(const std::string& text);

  std::string name_;
  std::unique_ptr<Instance> instance_;
  bool can_trees_;
  DraftRules rules_;
  std::function<GuardOptions()> current_options_;
  GuardOptions options_;  // of this round
  CircuitBreaker breaker_;
  std::unordered_map<uint64_t, Sequence> sequences_;
  uint64_t step_ = 0;
  std::chrono::steady_clock::time_point last_told_{};

  std::vector<Slot> slots_;  // kept for their memory, as all below
  std::vector<outrider_propose_item> items_;
  std::vector<std::byte> arena_;  // canary, tokens, canary, parents, canary, log_q, canary; for each item
  std::vector<outrider_verified_item> verified_;
  std::vector<uint32_t> accepted_;

  mutable std::mutex report_mutex_;
  DrafterReport report_;
  std::unique_ptr<CorpusManager> corpora_;  // last, so that it goes first
};

}  // namespace outrider::drafting
