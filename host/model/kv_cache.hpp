// The target's KV cache: a pool of pages of 16 positions, shared by all requests. A sequence holds a page table that is reserved
// whole when its request is admitted (prompt, output and the widest draft), so that a running request can never run out.
// Not thread-safe: it belongs to the thread that runs the step loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/cpu/attention.hpp"
#include "model/architecture.hpp"

namespace outrider::model {

// A request's share of the cache. Slot s of the sequence is position s, but for the nodes of a draft tree, which take the slots
// after the committed ones in the tree's order.
struct KvSequence {
  std::vector<int32_t> pages;
  [[nodiscard]] int32_t capacity() const { return static_cast<int32_t>(pages.size()) * kernels::kPagePositions; }
};

// The type that `memory.kv_type` names; "auto" is F16.
kernels::KvType kv_type_of(std::string_view name);

class KvCache {
 public:
  // Room for `positions` positions (rounded up to pages). Memory is touched only as it is used.
  KvCache(const Architecture& architecture, kernels::KvType type, int64_t positions);
  ~KvCache();
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  // Pages for `positions` positions; nullopt when so many are not free now.
  std::optional<KvSequence> reserve(int64_t positions);
  void release(KvSequence& sequence);

  // Makes the sequence's pages real memory, filled with zeros. Until it is written, memory is one page of zeros that never leaves a core's
  // cache, and reading it says nothing about reading a context.
  void touch(const KvSequence& sequence);

  // Moves the rows of an accepted path to slots [to, to + from.size()), in every layer. `from` ascends and never lies below its target.
  void commit_path(const KvSequence& sequence, const std::vector<int32_t>& from, int32_t to);

  [[nodiscard]] kernels::KvLayer layer(int32_t index) const;
  [[nodiscard]] int64_t capacity() const { return pages_ * kernels::kPagePositions; }          // positions
  [[nodiscard]] int64_t available() const { return static_cast<int64_t>(free_.size()) * kernels::kPagePositions; }
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  kernels::KvLayer shape_;
  int32_t layers_;
  int64_t pages_;
  size_t bytes_;
  std::byte* data_;             // [layers][pages] of page_bytes
  std::vector<int32_t> free_;   // page numbers, lowest last
};

}  // namespace outrider::model
