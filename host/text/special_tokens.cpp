#include "text/special_tokens.hpp"

namespace outrider::text {

namespace {
uint64_t edge_key(int32_t node, unsigned char byte) { return static_cast<uint64_t>(node) << 8 | byte; }
}  // namespace

SpecialTokens::SpecialTokens() : nodes_(1) { first_.fill(-1); }

int32_t SpecialTokens::child(int32_t node, unsigned char byte) const {
  if (node == 0) return first_[byte];
  const auto edge = edges_.find(edge_key(node, byte));
  return edge == edges_.end() ? -1 : edge->second;
}

void SpecialTokens::add(std::string_view name, int32_t id, bool always) {
  int32_t node = 0;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    int32_t next = child(node, byte);
    if (next < 0) {
      next = static_cast<int32_t>(nodes_.size());
      nodes_.emplace_back();
      if (node == 0) {
        first_[byte] = next;
      } else {
        edges_.emplace(edge_key(node, byte), next);
      }
    }
    node = next;
  }
  nodes_[static_cast<size_t>(node)] = {id, always};
}

SpecialTokens::Match SpecialTokens::find(std::string_view text, size_t from, bool parse_special) const {
  for (size_t start = from; start < text.size(); ++start) {
    Match longest;
    int32_t node = first_[static_cast<unsigned char>(text[start])];
    for (size_t end = start + 1; node >= 0; ++end) {
      const Node& here = nodes_[static_cast<size_t>(node)];
      if (here.id >= 0 && (here.always || parse_special)) longest = {start, end - start, here.id};
      if (end == text.size()) break;
      node = child(node, static_cast<unsigned char>(text[end]));
    }
    if (longest.length != 0) return longest;
  }
  return {};
}

}  // namespace outrider::text
