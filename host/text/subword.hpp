// What a vocabulary does with text that holds no special token: one class for each family behind one small interface, and the
// memory a thread works in while it encodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "text/merge_loop.hpp"
#include "text/pre_tokenizer.hpp"
#include "text/tokenizer_data.hpp"

namespace outrider::text {

// Remembers the ids of short words, since text repeats them. Each word has one place; a newcomer takes it over. About 2 MB.
class WordCache {
 public:
  static constexpr size_t kMaxBytes = 24;
  static constexpr size_t kMaxIds = 8;

  // The ids put for `word`, or an empty span.
  [[nodiscard]] std::span<const int32_t> find(std::string_view word) const;
  void put(std::string_view word, std::span<const int32_t> ids);  // too long: not remembered

 private:
  static constexpr size_t kSlots = 1u << 15;
  struct Slot {
    uint8_t bytes = 0;  // 0: empty
    uint8_t ids = 0;
    std::array<char, kMaxBytes> word;
    std::array<int32_t, kMaxIds> id;
  };
  static size_t slot_of(std::string_view word);
  std::vector<Slot> slots_;  // allocated by the first put
};

// Used by one thread at a time, with one tokenizer only.
class SubwordScratch {
 public:
  WordCache cache;
  MergeLoop merges;
  PreTokenizer::Scratch match;
  std::vector<std::string_view> words;
  std::string normalized;

  // Bytes that a long text left behind, the cache aside.
  [[nodiscard]] size_t memory() const {
    return merges.memory() + words.capacity() * sizeof(std::string_view) + normalized.capacity();
  }
};

class SubwordModel {
 public:
  virtual ~SubwordModel() = default;

  // Appends the ids of `text` (any bytes) to `ids`. Returns the number of bytes that no token covers. `after_special`: the text
  // stands at the start or behind a special token.
  virtual size_t encode(std::string_view text, bool after_special, SubwordScratch& scratch, std::vector<int32_t>& ids) const = 0;
};

// The bytes that token `id` adds to a text: letters of the byte alphabet become bytes, U+2581 a space, "<0x0A>" the byte; the
// name of a control or unknown token stays as it is.
std::string piece_of(const TokenizerData& data, size_t id);

// `data` is needed during the call only; `pieces` (piece_of each id) must outlive the model and stay where it is.
Result<std::unique_ptr<SubwordModel>> make_byte_level_bpe(const TokenizerData& data, std::span<const std::string> pieces);
Result<std::unique_ptr<SubwordModel>> make_sentence_piece(const TokenizerData& data, std::span<const std::string> pieces);

}  // namespace outrider::text
