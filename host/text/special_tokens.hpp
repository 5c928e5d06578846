// Finds whole tokens in text before it is cut into words: "<|im_start|>", a run of newlines that is one token. The first place
// where any token begins wins, and there the longest token. A trie, so that the time does not depend on how many tokens there are.
// Immutable after the last add(); then callable from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace outrider::text {

class SpecialTokens {
 public:
  struct Match {
    size_t position = 0;  // bytes from the start of the text
    size_t length = 0;    // bytes; 0: no token from there to the end
    int32_t id = -1;
  };

  SpecialTokens();

  // `name` is not empty. `always`: found by every search; otherwise only by those with parse_special.
  void add(std::string_view name, int32_t id, bool always);

  // The first token at or after byte `from`.
  [[nodiscard]] Match find(std::string_view text, size_t from, bool parse_special) const;

 private:
  struct Node {
    int32_t id = -1;  // of the token that ends here; -1: none
    bool always = false;
  };

  [[nodiscard]] int32_t child(int32_t node, unsigned char byte) const;  // -1: none

  std::vector<Node> nodes_;                       // 0 is the root
  std::array<int32_t, 256> first_;                // the root's children by byte; -1: none
  std::unordered_map<uint64_t, int32_t> edges_;  // (node << 8 | byte) -> node, for all other nodes
};

}  // namespace outrider::text
