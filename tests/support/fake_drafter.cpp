#include "support/fake_drafter.hpp"

#include <algorithm>
#include <stdexcept>

namespace outrider::tests {

bool FakeDrafter::open(uint64_t request, std::span<const int32_t> prompt, float, uint64_t, int32_t) {
  auto& seen = seen_[request];
  seen.reserve(4096);  // so that a test which counts allocations sees the host's alone
  seen.assign(prompt.begin(), prompt.end());
  return true;
}

void FakeDrafter::close(uint64_t request) {
  if (seen_.erase(request) != 1) throw std::logic_error("close: a request that is not open");
}

void FakeDrafter::propose(std::span<drafting::DraftRequest> batch) {
  ++calls_;
  for (auto& item : batch) {
    auto& seen = seen_.at(item.request);
    if (seen.size() + static_cast<size_t>(item.new_tokens) != item.tokens.size() ||
        !std::equal(seen.begin(), seen.end(), item.tokens.begin())) {
      throw std::logic_error("propose: new_tokens does not tell what is new");
    }
    seen.insert(seen.end(), item.tokens.end() - item.new_tokens, item.tokens.end());
    propose_(item, random_);
    if (item.draft.size() > item.max_nodes) throw std::logic_error("the fake drafter itself proposes too many");
  }
}

void FakeDrafter::on_verified(std::span<const drafting::VerifiedRequest> batch) {
  for (const auto& item : batch) {
    if (!seen_.contains(item.request)) throw std::logic_error("on_verified: a request that is not open");
  }
}

drafting::DrafterReport FakeDrafter::report() const {
  drafting::DrafterReport report;
  report.name = report.id = "fake";
  report.calls = calls_;
  return report;
}

Propose random_tree(int32_t vocab) {
  return [vocab](drafting::DraftRequest& item, std::mt19937& random) {
    const auto nodes = static_cast<int32_t>(random() % static_cast<uint32_t>(item.max_nodes + 1));
    std::vector<int32_t> depth;
    for (int32_t i = 0; i < nodes; ++i) {
      const int32_t parent = static_cast<int32_t>(random() % static_cast<uint32_t>(i + 1)) - 1;
      const int32_t own_depth = parent < 0 ? 1 : depth[static_cast<size_t>(parent)] + 1;
      if (own_depth > item.max_depth) break;
      const auto token = static_cast<int32_t>(random() % static_cast<uint32_t>(vocab));
      bool twin = false;
      for (int32_t j = 0; j < item.draft.size(); ++j) {
        twin |= item.draft.parents[static_cast<size_t>(j)] == parent && item.draft.tokens[static_cast<size_t>(j)] == token;
      }
      if (twin) break;
      depth.push_back(own_depth);
      item.draft.tokens.push_back(token);
      item.draft.parents.push_back(parent);
    }
  };
}

Propose oracle(std::vector<int32_t> truth, int32_t vocab, double wrong, bool tree) {
  return [truth = std::move(truth), vocab, wrong, tree](drafting::DraftRequest& item, std::mt19937& random) {
    std::uniform_real_distribution<double> chance;
    int32_t parent = -1;
    for (int32_t depth = 1; depth <= item.max_depth && item.draft.size() < item.max_nodes; ++depth) {
      const size_t next = item.tokens.size() + static_cast<size_t>(depth) - 1;
      if (next >= truth.size()) return;
      const int32_t right = truth[next], other = (right + 1) % vocab;
      if (tree && item.draft.size() + 1 < item.max_nodes) {
        item.draft.tokens.push_back(other);
        item.draft.parents.push_back(parent);
      }
      const bool fail = chance(random) < wrong;
      if (tree && fail) return;  // the wrong sibling stands alone
      item.draft.tokens.push_back(fail ? other : right);
      item.draft.parents.push_back(parent);
      parent = item.draft.size() - 1;
    }
  };
}

Propose nothing() {
  return [](drafting::DraftRequest&, std::mt19937&) {};
}

}  // namespace outrider::tests
