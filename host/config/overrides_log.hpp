// The overrides log: who wrote which fields after publication, in order. Persistent: appending gives a new log that shares the old
// one's entries, and the old one is unchanged. Appending costs the same at ten entries and at ten thousand, nearly. A value.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/fields.hpp"

namespace outrider::config {

struct OverrideEntry {
  std::string source;
  std::vector<std::pair<FieldId, FieldValue>> fields;
  bool operator==(const OverrideEntry&) const = default;
};

class OverridesLog {
 public:
  [[nodiscard]] OverridesLog with(OverrideEntry entry) const;
  [[nodiscard]] size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::vector<OverrideEntry> entries() const;  // a copy, oldest first

 private:
  static constexpr size_t kChunk = 64;
  using Chunk = std::vector<std::shared_ptr<const OverrideEntry>>;
  std::shared_ptr<const std::vector<std::shared_ptr<const Chunk>>> full_;  // chunks of kChunk entries
  Chunk tail_;                                                             // fewer than kChunk
};

}  // namespace outrider::config
