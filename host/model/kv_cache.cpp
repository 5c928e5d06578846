#include "model/kv_cache.hpp"

#include <sys/mman.h>

#include <cassert>
#include <cstring>
#include <new>

namespace outrider::model {

kernels::KvType kv_type_of(std::string_view name) { return kernels::kv_type_from_name(name).value_or(kernels::KvType::f16); }

KvCache::KvCache(const Architecture& architecture, kernels::KvType type, int64_t positions)
    : shape_{nullptr, type, architecture.kv_heads, architecture.head_dim},
      layers_(architecture.layers),
      pages_((positions + kernels::kPagePositions - 1) / kernels::kPagePositions),
      bytes_(shape_.page_bytes() * static_cast<size_t>(pages_) * static_cast<size_t>(layers_)) {
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(memory);
  free_.resize(static_cast<size_t>(pages_));
  for (size_t i = 0; i < free_.size(); ++i) free_[i] = static_cast<int32_t>(free_.size() - 1 - i);
}

KvCache::~KvCache() { ::munmap(data_, bytes_); }

std::optional<KvSequence> KvCache::reserve(int64_t positions) {
  const int64_t wanted = (positions + kernels::kPagePositions - 1) / kernels::kPagePositions;
  if (wanted > static_cast<int64_t>(free_.size())) return std::nullopt;
  KvSequence sequence;
  sequence.pages.assign(free_.rbegin(), free_.rbegin() + wanted);
  free_.resize(free_.size() - static_cast<size_t>(wanted));
  return sequence;
}

void KvCache::release(KvSequence& sequence) {
  free_.insert(free_.end(), sequence.pages.rbegin(), sequence.pages.rend());
  sequence.pages.clear();
}

void KvCache::touch(const KvSequence& sequence) {
  for (int32_t index = 0; index < layers_; ++index) {
    std::byte* pages = layer(index).data;
    for (const int32_t page : sequence.pages) std::memset(pages + shape_.page_bytes() * static_cast<size_t>(page), 0, shape_.page_bytes());
  }
}

void KvCache::commit_path(const KvSequence& sequence, const std::vector<int32_t>& from, int32_t to) {
  for (int32_t layer_index = 0; layer_index < layers_; ++layer_index) {
    const kernels::KvLayer view = layer(layer_index);
    for (size_t i = 0; i < from.size(); ++i) {
      const int32_t target = to + static_cast<int32_t>(i);
      assert(from[i] >= target);
      if (from[i] != target) kernels::kv_move(view, sequence.pages.data(), from[i], target);
    }
  }
}

kernels::KvLayer KvCache::layer(int32_t index) const {
  kernels::KvLayer view = shape_;
  view.data = data_ + shape_.page_bytes() * static_cast<size_t>(pages_) * static_cast<size_t>(index);
  return view;
}

}  // namespace outrider::model
