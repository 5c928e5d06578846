// Byte-level BPE (Sennrich et al. 2016; Radford et al. 2019): a word's bytes are joined pair by pair in the order of the merge list.
#include <array>
#include <unordered_map>
#include <utility>

#include "text/byte_alphabet.hpp"
#include "text/subword.hpp"
#include "text/utf8.hpp"

namespace outrider::text {

namespace {

// (left, right) -> Join in one flat table of a power of two places, at most half of them taken; nothing is ever removed.
class MergeTable {
 public:
  explicit MergeTable(size_t merges) {
    size_t places = 16;
    while (places < 2 * merges) places *= 2;
    places_.resize(places);
  }

  // The first of equal pairs stays: it has the better rank.
  void insert(int32_t left, int32_t right, Join join) {
    Place& place = places_[find_place(key_of(left, right))];
    if (place.key == kEmpty) place = {key_of(left, right), join};
  }

  [[nodiscard]] Join find(int32_t left, int32_t right) const { return places_[find_place(key_of(left, right))].join; }

 private:
  static constexpr uint64_t kEmpty = UINT64_MAX;  // no pair: symbols are not negative
  struct Place {
    uint64_t key = kEmpty;
    Join join{0, -1};
  };

  static uint64_t key_of(int32_t left, int32_t right) { return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right); }

  [[nodiscard]] size_t find_place(uint64_t key) const {
    const size_t mask = places_.size() - 1;
    uint64_t hash = key * 0x9E3779B97F4A7C15u;
    size_t place = (hash ^ hash >> 32) & mask;
    while (places_[place].key != kEmpty && places_[place].key != key) place = (place + 1) & mask;
    return place;
  }

  std::vector<Place> places_;
};

class ByteLevelBpe : public SubwordModel {
 public:
  static Result<std::unique_ptr<SubwordModel>> make(const TokenizerData& data, std::span<const std::string> pieces) {
    OUTRIDER_TRY(PreTokenizer pre_tokenizer, PreTokenizer::create(data.pre));
    std::unique_ptr<ByteLevelBpe> bpe(new ByteLevelBpe(data, std::move(pre_tokenizer)));
    OUTRIDER_CHECK(bpe->prepare(data, pieces));
    return std::unique_ptr<SubwordModel>(std::move(bpe));
  }

  size_t encode(std::string_view text, bool /*after_special*/, SubwordScratch& scratch,
                std::vector<int32_t>& ids) const override {
    // The patterns are about characters: bytes that are none go round them, each run as a word of its own.
    size_t unknown = 0;
    while (!text.empty()) {
      scratch.words.clear();
      const size_t valid = valid_utf8_prefix(text);
      if (valid > 0) pre_tokenizer_.split(text.substr(0, valid), scratch.match, scratch.words);
      text.remove_prefix(valid);
      const size_t invalid = invalid_utf8_prefix(text);
      if (invalid > 0) scratch.words.push_back(text.substr(0, invalid));
      text.remove_prefix(invalid);
      for (const std::string_view word : scratch.words) unknown += encode_word(word, scratch, ids);
    }
    return unknown;
  }

 private:
  ByteLevelBpe(const TokenizerData& data, PreTokenizer pre_tokenizer)
      : vocab_size_(static_cast<int32_t>(data.tokens.size())),
        unknown_(data.unknown.value_or(-1)),
        pre_tokenizer_(std::move(pre_tokenizer)),
        table_(data.merges.size()) {}

  // Symbols are token ids; what merges mention and the vocabulary lacks gets a number beyond them, so that a merge can still go
  // through it on the way to a token.
  Result<void> prepare(const TokenizerData& data, std::span<const std::string> pieces) {
    std::unordered_map<std::string_view, int32_t> tokens;
    tokens.reserve(data.tokens.size());
    for (size_t id = 0; id < data.tokens.size(); ++id) {
      const auto type = static_cast<TokenType>(data.types[id]);
      const bool ordinary = type != TokenType::control && type != TokenType::unknown;
      if (ordinary) tokens.insert_or_assign(data.tokens[id], static_cast<int32_t>(id));
    }
    std::unordered_map<std::string, int32_t> beyond;
    const auto symbol_of = [&](std::string_view letters) {
      const auto token = tokens.find(letters);
      if (token != tokens.end()) return token->second;
      return beyond.emplace(letters, vocab_size_ + static_cast<int32_t>(beyond.size())).first->second;
    };

    for (size_t byte = 0; byte < 256; ++byte) {
      std::string letter;
      append_utf8(letter, byte_to_letter(static_cast<unsigned char>(byte)));
      symbol_of_byte_[byte] = symbol_of(letter);
    }
    std::string joined;
    for (size_t rank = 0; rank < data.merges.size(); ++rank) {
      const std::string_view merge = data.merges[rank];
      const size_t space = merge.size() < 3 ? std::string_view::npos : merge.find(' ', 1);
      if (space == std::string_view::npos || space + 1 == merge.size()) {
        return Error{"tokenizer.ggml.merges[" + std::to_string(rank) + "]: expected two symbols with a space between, found \"" +
                     std::string(merge.substr(0, 64)) + "\"; the file is damaged, fetch or convert it again"};
      }
      const std::string_view left = merge.substr(0, space);
      const std::string_view right = merge.substr(space + 1);
      joined.assign(left).append(right);
      table_.insert(symbol_of(left), symbol_of(right), {static_cast<uint32_t>(rank), symbol_of(joined)});
    }
    if (pre_tokenizer_.ignores_merges()) {
      for (const auto& [letters, id] : tokens) whole_words_.emplace(pieces[static_cast<size_t>(id)], id);
    }
    return {};
  }

  size_t encode_word(std::string_view word, SubwordScratch& scratch, std::vector<int32_t>& ids) const {
    if (const auto known = scratch.cache.find(word); !known.empty()) {
      ids.insert(ids.end(), known.begin(), known.end());
      return 0;
    }
    const size_t before = ids.size();
    const size_t unknown = encode_new_word(word, scratch, ids);
    if (unknown == 0) scratch.cache.put(word, std::span(ids).subspan(before));
    return unknown;
  }

  size_t encode_new_word(std::string_view word, SubwordScratch& scratch, std::vector<int32_t>& ids) const {
    if (pre_tokenizer_.ignores_merges()) {
      if (const auto whole = whole_words_.find(word); whole != whole_words_.end()) {
        ids.push_back(whole->second);
        return 0;
      }
    }
    MergeLoop& loop = scratch.merges;
    loop.clear();
    for (size_t i = 0; i < word.size(); ++i) loop.add(i, 1, symbol_of_byte_[static_cast<unsigned char>(word[i])]);
    loop.run([&](const Symbol& left, const Symbol& right) { return table_.find(left.id, right.id); });

    size_t unknown = 0;
    loop.for_each([&](const Symbol& symbol) {
      if (symbol.id < vocab_size_) {
        ids.push_back(symbol.id);
        return;
      }
      for (const char c : word.substr(symbol.start, symbol.length)) {
        const int32_t id = symbol_of_byte_[static_cast<unsigned char>(c)];
        if (id < vocab_size_) {
          ids.push_back(id);
        } else {
          ++unknown;
          if (unknown_ >= 0) ids.push_back(unknown_);
        }
      }
    });
    return unknown;
  }

  int32_t vocab_size_;
  int32_t unknown_;  // -1: none
  PreTokenizer pre_tokenizer_;
  MergeTable table_;
  std::array<int32_t, 256> symbol_of_byte_{};
  std::unordered_map<std::string_view, int32_t> whole_words_;  // piece -> id; filled where merges are ignored
};

}  // namespace

Result<std::unique_ptr<SubwordModel>> make_byte_level_bpe(const TokenizerData& data, std::span<const std::string> pieces) {
  return ByteLevelBpe::make(data, pieces);
}

}  // namespace outrider::text
