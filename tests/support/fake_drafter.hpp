// Drafters for tests that stand behind the guard already: they propose valid drafts of a stated quality, so that the engine's every path
// (chains, trees, full, partial and no acceptance) is walked.
#pragma once

#include <functional>
#include <map>
#include <random>

#include "drafting/drafter.hpp"

namespace outrider::tests {

// Fills a request's draft within its max_nodes and max_depth.
using Propose = std::function<void(drafting::DraftRequest&, std::mt19937&)>;

class FakeDrafter : public drafting::Drafter {
 public:
  explicit FakeDrafter(Propose propose, uint32_t seed = 1) : propose_(std::move(propose)), random_(seed) {}

  bool open(uint64_t request, std::span<const int32_t> prompt, float, uint64_t, int32_t) override;
  void close(uint64_t request) override;
  void propose(std::span<drafting::DraftRequest> batch) override;
  void on_verified(std::span<const drafting::VerifiedRequest> batch) override;
  [[nodiscard]] bool proposes_trees() const override { return true; }
  [[nodiscard]] drafting::DrafterReport report() const override;

 private:
  Propose propose_;
  std::mt19937 random_;
  std::map<uint64_t, std::vector<int32_t>> seen_;  // tokens told so far, by request: must equal what propose is given
  uint64_t calls_ = 0;
};

// Random tokens below `vocab` in a random tree: almost always wrong.
Propose random_tree(int32_t vocab);
// The continuation of `truth` (the whole output of a plain run after the prompt of `prompt_length`), each node wrong with chance
// `wrong`; a tree also offers wrong siblings before the right token.
Propose oracle(std::vector<int32_t> truth, int32_t vocab, double wrong, bool tree);
Propose nothing();

}  // namespace outrider::tests
