// What a worker sees of a request and where it writes its draft: views over the host's memory, valid for the call. Draft::add refuses
// what would break the contract (full, too deep, no such parent), so a worker cannot write outside its budget.
#pragma once

#include <cstddef>
#include <cstdint>

#include "outrider/plugin.h"
#include "outrider/sdk/host.hpp"

#pragma GCC visibility push(hidden)
namespace outrider {
namespace sdk {
inline namespace v0_1 {

// A pointer with its length (std::span is C++20).
template <class T>
class View {
 public:
  View() = default;
  View(T* data, size_t size) : data_(data), size_(size) {}
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  T& operator[](size_t i) const { return data_[i]; }
  [[nodiscard]] T* begin() const { return data_; }
  [[nodiscard]] T* end() const { return data_ + size_; }
  [[nodiscard]] T& back() const { return data_[size_ - 1]; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

struct RequestInfo {
  uint64_t id;
  View<const int32_t> prompt;
  uint32_t max_new_tokens;
  float temperature;  // 0: greedy
  uint64_t seed;      // see outrider_request_info
};

struct Item {
  View<const int32_t> tokens;  // prompt and output so far; the last one is the root
  uint32_t new_count;          // how many at the end are new
  uint32_t max_nodes, max_depth;
  bool chain;  // the draft must not branch
};

struct Verified {
  View<const uint32_t> accepted;  // nodes of the last draft, from the root downwards
  int32_t bonus_token;            // -1: none
};

// The draft of one request, written node by node, parents first.
class Draft {
 public:
  explicit Draft(outrider_propose_item& item) : item_(item) {}

  // Adds `token` below node `parent` (-1: the root), with the chance that it is accepted given its parent was, as a natural logarithm.
  // Returns the new node, or -1 when the budget of nodes is spent or `parent` is no earlier node. Depth is the caller's to keep.
  int32_t add(int32_t token, int32_t parent, float log_q = 0.0F) {
    const auto node = static_cast<int32_t>(item_.out_count);
    if (item_.out_count >= item_.max_nodes || parent < -1 || parent >= node) return -1;
    item_.out_tokens[node] = token;
    item_.out_parents[node] = parent;
    if (item_.out_log_q != nullptr) item_.out_log_q[node] = log_q < 0.0F ? log_q : 0.0F;
    ++item_.out_count;
    return node;
  }

  [[nodiscard]] uint32_t size() const { return item_.out_count; }
  [[nodiscard]] uint32_t room() const { return item_.max_nodes - item_.out_count; }

 private:
  outrider_propose_item& item_;
};

// All requests of one propose call, for a worker that handles them together.
template <class Request>
class BatchOf {
 public:
  explicit BatchOf(outrider_propose_batch& batch) : batch_(batch) {}

  [[nodiscard]] size_t size() const { return batch_.item_count; }
  [[nodiscard]] uint64_t deadline_ns() const { return batch_.deadline_ns; }
  [[nodiscard]] Request& request(size_t i) const { return *reinterpret_cast<Request*>(raw(i).request); }
  [[nodiscard]] Item item(size_t i) const {
    const outrider_propose_item& item = raw(i);
    return {{item.tokens, item.token_count}, item.new_count, item.max_nodes, item.max_depth, (item.flags & OUTRIDER_ITEM_CHAIN) != 0};
  }
  [[nodiscard]] Draft draft(size_t i) const { return Draft(raw(i)); }
  [[nodiscard]] outrider_propose_item& raw(size_t i) const {
    return *OUTRIDER_ITEM(outrider_propose_item, batch_.items, batch_.item_size, i);
  }

 private:
  outrider_propose_batch& batch_;
};

}  // namespace v0_1
}  // namespace sdk
}  // namespace outrider
#pragma GCC visibility pop
