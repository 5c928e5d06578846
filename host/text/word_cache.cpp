#include <algorithm>
#include <functional>

#include "text/subword.hpp"

namespace outrider::text {

size_t WordCache::slot_of(std::string_view word) { return std::hash<std::string_view>{}(word) % kSlots; }

std::span<const int32_t> WordCache::find(std::string_view word) const {
  if (slots_.empty() || word.size() > kMaxBytes) return {};
  const Slot& slot = slots_[slot_of(word)];
  if (std::string_view(slot.word.data(), slot.bytes) != word) return {};
  return {slot.id.data(), slot.ids};
}

void WordCache::put(std::string_view word, std::span<const int32_t> ids) {
  if (word.empty() || word.size() > kMaxBytes || ids.size() > kMaxIds) return;
  if (slots_.empty()) slots_.resize(kSlots);
  Slot& slot = slots_[slot_of(word)];
  slot.bytes = static_cast<uint8_t>(word.size());
  slot.ids = static_cast<uint8_t>(ids.size());
  std::copy(word.begin(), word.end(), slot.word.begin());
  std::copy(ids.begin(), ids.end(), slot.id.begin());
}

}  // namespace outrider::text
