// SentencePiece-style vocabularies (Kudo and Richardson 2018, its BPE mode): a text's characters are joined pair by pair, the pair
// whose result has the highest score first. There are no words here: a space is a character like any other (U+2581 in the file).
#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "text/subword.hpp"
#include "text/utf8.hpp"

namespace outrider::text {

namespace {

constexpr std::string_view kVisibleSpace = "\xE2\x96\x81";  // U+2581

// The character `text` starts with; of bytes that are none, one byte, which can be no token but a byte's.
size_t character_length(std::string_view text) {
  const Utf8Step step = next_utf8(text);
  return step.kind == Utf8Step::Kind::character ? step.length : 1;
}

class SentencePiece : public SubwordModel {
 public:
  SentencePiece(const TokenizerData& data, std::span<const std::string> pieces)
      : unknown_(data.unknown.value_or(-1)), add_space_prefix_(data.add_space_prefix) {
    byte_tokens_.fill(-1);
    ids_.max_load_factor(0.5F);  // most look-ups find nothing, and should see that soon
    ids_.reserve(pieces.size());
    for (size_t id = 0; id < pieces.size(); ++id) {
      const auto type = static_cast<TokenType>(data.types[id]);
      const std::string& piece = pieces[id];
      if (type == TokenType::byte) {
        if (piece.size() == 1) byte_tokens_[static_cast<unsigned char>(piece[0])] = static_cast<int32_t>(id);
        continue;
      }
      // A token written with a real space is found in the raw text, before this model sees it, and is no result of joining.
      const bool joinable = type != TokenType::control && type != TokenType::unknown && !piece.empty() &&
                            data.tokens[id].find(' ') == std::string::npos;
      if (!joinable) continue;
      ids_.insert_or_assign(piece, static_cast<int32_t>(id));
      longest_ = std::max(longest_, piece.size());
      note_before_space(piece);
    }
    rank_by_score(data.scores);
  }

  size_t encode(std::string_view text, bool after_special, SubwordScratch& scratch,
                std::vector<int32_t>& ids) const override {
    std::string& normalized = scratch.normalized;
    normalized.clear();
    if (after_special && add_space_prefix_) normalized.push_back(' ');
    while (!text.empty()) {
      const size_t visible = std::min(text.find(kVisibleSpace), text.size());
      normalized.append(text, 0, visible);
      text.remove_prefix(visible);
      if (text.empty()) break;
      normalized.push_back(' ');
      text.remove_prefix(kVisibleSpace.size());
    }

    size_t unknown = 0;
    for (std::string_view rest = normalized; !rest.empty();) {
      const std::string_view part = rest.substr(0, part_length(rest));
      unknown += encode_part(part, scratch, ids);
      rest.remove_prefix(part.size());
    }
    return unknown;
  }

 private:
  // Joining depends on neighbours only, so no join can cross a place where no token has these two characters side by side. Cutting
  // there changes no id and makes parts short enough to remember. Only places before a space are looked at: they are the usual ones.
  void note_before_space(std::string_view piece) {
    for (size_t at = 0; at < piece.size();) {
      const size_t next = at + character_length(piece.substr(at));
      if (next < piece.size() && piece[next] == ' ') before_space_.emplace(piece.substr(at, next - at));
      at = next;
    }
  }

  size_t part_length(std::string_view text) const {
    for (size_t at = 0; at < text.size();) {
      const size_t next = at + character_length(text.substr(at));
      if (next >= text.size()) break;
      if (text[next] == ' ' && !before_space_.contains(text.substr(at, next - at))) return next;
      at = next;
    }
    return text.size();
  }

  // Scores as ranks: 0 is the highest, equal scores share one.
  void rank_by_score(const std::vector<float>& scores) {
    std::vector<int32_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0);
    const auto score = [&](int32_t id) { return scores[static_cast<size_t>(id)]; };
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return score(a) > score(b); });
    ranks_.resize(scores.size());
    uint32_t rank = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && score(order[i]) < score(order[i - 1])) ++rank;
      ranks_[static_cast<size_t>(order[i])] = rank;
    }
  }

  size_t encode_part(std::string_view part, SubwordScratch& scratch, std::vector<int32_t>& ids) const {
    if (const auto known = scratch.cache.find(part); !known.empty()) {
      ids.insert(ids.end(), known.begin(), known.end());
      return 0;
    }
    const size_t before = ids.size();
    const size_t unknown = encode_new_part(part, scratch.merges, ids);
    if (unknown == 0) scratch.cache.put(part, std::span(ids).subspan(before));
    return unknown;
  }

  size_t encode_new_part(std::string_view part, MergeLoop& loop, std::vector<int32_t>& ids) const {
    loop.clear();
    for (size_t at = 0; at < part.size();) {
      const size_t length = character_length(part.substr(at));
      loop.add(at, length, find(part.substr(at, length)));
      at += length;
    }
    loop.run([&](const Symbol& left, const Symbol& right) -> Join {
      const int32_t id = find(part.substr(left.start, left.length + right.length));
      return id < 0 ? Join{0, -1} : Join{ranks_[static_cast<size_t>(id)], id};
    });
    size_t unknown = 0;
    loop.for_each([&](const Symbol& symbol) {
      if (symbol.id >= 0) {
        ids.push_back(symbol.id);
      } else {
        unknown += encode_bytes(part.substr(symbol.start, symbol.length), ids);
      }
    });
    return unknown;
  }

  // A character that is no token: its bytes' tokens, or one unknown token where the vocabulary lacks one of them.
  size_t encode_bytes(std::string_view character, std::vector<int32_t>& ids) const {
    const auto token = [&](char c) { return byte_tokens_[static_cast<unsigned char>(c)]; };
    if (std::all_of(character.begin(), character.end(), [&](char c) { return token(c) >= 0; })) {
      for (const char c : character) ids.push_back(token(c));
      return 0;
    }
    if (unknown_ >= 0) ids.push_back(unknown_);
    return character.size();
  }

  [[nodiscard]] int32_t find(std::string_view piece) const {
    if (piece.size() > longest_) return -1;
    const auto found = ids_.find(piece);
    return found == ids_.end() ? -1 : found->second;
  }

  int32_t unknown_;  // -1: none
  bool add_space_prefix_;
  std::unordered_map<std::string_view, int32_t> ids_;      // by piece; byte tokens aside
  size_t longest_ = 0;                                     // bytes of the longest of them
  std::vector<uint32_t> ranks_;                            // by id
  std::array<int32_t, 256> byte_tokens_{};                 // by byte; -1: none
  std::unordered_set<std::string_view> before_space_;  // characters that stand before a space inside some token
};

}  // namespace

Result<std::unique_ptr<SubwordModel>> make_sentence_piece(const TokenizerData& data, std::span<const std::string> pieces) {
  if (data.scores.size() != data.tokens.size()) {
    return Error{"tokenizer.ggml.scores: expected one for each of the " + std::to_string(data.tokens.size()) + " tokens, found " +
                 std::to_string(data.scores.size()) + "; the file is damaged, fetch or convert it again"};
  }
  for (size_t id = 0; id < data.scores.size(); ++id) {
    if (data.scores[id] != data.scores[id]) {
      return Error{"tokenizer.ggml.scores[" + std::to_string(id) + "]: expected a number, found NaN; fetch or convert the file again"};
    }
  }
  return std::unique_ptr<SubwordModel>(std::make_unique<SentencePiece>(data, pieces));
}

}  // namespace outrider::text
