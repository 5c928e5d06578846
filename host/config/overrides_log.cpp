#include "config/overrides_log.hpp"

namespace outrider::config {

OverridesLog OverridesLog::with(OverrideEntry entry) const {
  OverridesLog next;
  next.full_ = full_;
  next.tail_.reserve(tail_.size() + 1);
  next.tail_ = tail_;
  next.tail_.push_back(std::make_shared<const OverrideEntry>(std::move(entry)));
  if (next.tail_.size() < kChunk) return next;
  auto full = full_ ? std::make_shared<std::vector<std::shared_ptr<const Chunk>>>(*full_)
                    : std::make_shared<std::vector<std::shared_ptr<const Chunk>>>();
  full->push_back(std::make_shared<const Chunk>(std::move(next.tail_)));
  next.full_ = std::move(full);
  next.tail_.clear();
  return next;
}

size_t OverridesLog::size() const { return (full_ ? full_->size() * kChunk : 0) + tail_.size(); }

std::vector<OverrideEntry> OverridesLog::entries() const {
  std::vector<OverrideEntry> all;
  all.reserve(size());
  if (full_) {
    for (const auto& chunk : *full_) {
      for (const auto& entry : *chunk) all.push_back(*entry);
    }
  }
  for (const auto& entry : tail_) all.push_back(*entry);
  return all;
}

}  // namespace outrider::config
