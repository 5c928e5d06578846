#include "text/tokenizer.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "text/byte_alphabet.hpp"
#include "text/subword.hpp"

namespace outrider::text {

namespace {

constexpr size_t kMaxTextBytes = size_t{1} << 31;        // offsets within a word are 32 bits
constexpr size_t kMaxIdleScratchBytes = size_t{1} << 23;  // what a long text needed is not kept for short ones

// Names under which models end their turn or their text. A file often declares one of them as EOS and trains with two; some files
// call them ordinary tokens, though they are control tokens to the model.
constexpr std::string_view kEndNames[] = {
    "<eos>",          "<|endoftext|>",      "<|im_end|>",  "<|eot_id|>",         "<|eom_id|>", "<|end_of_text|>",
    "<end_of_turn>",  "<|end_of_turn|>",    "<|end|>",     "<|endofturn|>",      "<|eot|>",    "<EOT>",
    "_<EOT>",         "<end_of_utterance>", "<turn|>",     "<\xEF\xBD\x9C" "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
};
// Also a tag of HTML: an end where it is a control token, text elsewhere.
constexpr std::string_view kEndOrTag = "</s>";

bool names_an_end(std::string_view token) {
  if (!token.starts_with('<') && !token.starts_with('_')) return false;
  return std::find(std::begin(kEndNames), std::end(kEndNames), token) != std::end(kEndNames);
}

// Fowler, Noll and Vo's 64-bit hash, FNV-1a.
class Fnv {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  }
  void add(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) state_ = (state_ ^ (number >> shift & 0xFF)) * 0x100000001B3u;
  }
  [[nodiscard]] std::string hex() const {
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text.push_back("0123456789abcdef"[state_ >> shift & 0xF]);
    return text;
  }

 private:
  uint64_t state_ = 0xCBF29CE484222325u;
};

// The byte that "<0x0A>" names.
std::optional<unsigned char> byte_of_name(std::string_view name) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  if (name.size() != 6 || !name.starts_with("<0x") || name[5] != '>') return std::nullopt;
  const int high = digit(name[3]);
  const int low = digit(name[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<unsigned char>(high * 16 + low);
}

std::string with_plain_spaces(std::string_view token) {
  constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581
  std::string piece;
  for (size_t at = 0; at < token.size();) {
    const size_t visible = std::min(token.find(kSpaceMark, at), token.size());
    piece.append(token, at, visible - at);
    at = visible;
    if (at < token.size()) {
      piece.push_back(' ');
      at += kSpaceMark.size();
    }
  }
  return piece;
}

Result<void> check(const TokenizerData& data) {
  const size_t count = data.tokens.size();
  if (data.model != "gpt2" && data.model != "llama") {
    return Error{"tokenizer.ggml.model: expected \"gpt2\" (byte-level BPE) or \"llama\" (SentencePiece-style), found \"" + data.model +
                 "\"; this kind of vocabulary cannot be used, choose another model"};
  }
  if (count == 0 || count > static_cast<size_t>(INT32_MAX) / 2) {
    return Error{"tokenizer.ggml.tokens: expected at least one token, found " + std::to_string(count) +
                 "; the file has no vocabulary of its own, convert it again with one"};
  }
  if (data.types.size() != count) {
    return Error{"tokenizer.ggml.token_type: expected one for each of the " + std::to_string(count) + " tokens, found " +
                 std::to_string(data.types.size()) + "; the file is damaged, fetch or convert it again"};
  }
  for (size_t id = 0; id < count; ++id) {
    if (data.types[id] < 0 || data.types[id] > static_cast<int32_t>(TokenType::byte)) {
      return Error{"tokenizer.ggml.token_type[" + std::to_string(id) + "]: expected 1 to 6, found " + std::to_string(data.types[id]) +
                   "; the file is damaged or newer than this program"};
    }
  }
  const std::pair<const char*, std::optional<int32_t>> named[] = {{"bos", data.bos}, {"eos", data.eos},         {"eot", data.eot},
                                                                  {"eom", data.eom}, {"unknown", data.unknown}, {"padding", data.padding}};
  for (const auto& [name, id] : named) {
    if (id && (*id < 0 || static_cast<size_t>(*id) >= count)) {
      return Error{"tokenizer.ggml." + std::string(name) + "_token_id: expected 0 to " + std::to_string(count - 1) + ", found " +
                   std::to_string(*id) + "; the file is damaged, fetch or convert it again"};
    }
  }
  return {};
}

}  // namespace

std::string piece_of(const TokenizerData& data, size_t id) {
  const std::string& token = data.tokens[id];
  const auto type = static_cast<TokenType>(data.types[id]);
  if (type == TokenType::control || type == TokenType::unknown) return token;
  if (type == TokenType::byte) {
    const auto byte = byte_of_name(token);
    return byte ? std::string(1, static_cast<char>(*byte)) : token;
  }
  if (data.model == "llama") return with_plain_spaces(token);
  return type == TokenType::user_defined ? token : letters_to_bytes(token);
}

Tokenizer::Tokenizer(TokenizerData data) : data_(std::move(data)) {}
Tokenizer::~Tokenizer() = default;

Result<std::unique_ptr<Tokenizer>> Tokenizer::create(TokenizerData data) {
  if (data.types.empty()) data.types.assign(data.tokens.size(), static_cast<int32_t>(TokenType::normal));
  OUTRIDER_CHECK(check(data));
  std::unique_ptr<Tokenizer> tokenizer(new Tokenizer(std::move(data)));
  OUTRIDER_CHECK(tokenizer->prepare());
  return tokenizer;
}

Result<void> Tokenizer::prepare() {
  prepare_pieces();
  auto subwords = data_.model == "gpt2" ? make_byte_level_bpe(data_, pieces_) : make_sentence_piece(data_, pieces_);
  if (!subwords) return subwords.error();
  subwords_ = *std::move(subwords);
  prepare_end_of_generation();
  prepare_fingerprint();
  data_.tokens = {};
  data_.scores = {};
  data_.merges = {};
  return {};
}

void Tokenizer::prepare_pieces() {
  pieces_.reserve(data_.tokens.size());
  for (size_t i = 0; i < data_.tokens.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    if (type(id) == TokenType::normal && names_an_end(data_.tokens[i])) data_.types[i] = static_cast<int32_t>(TokenType::control);
    pieces_.push_back(piece_of(data_, i));
    const bool always = type(id) == TokenType::user_defined;
    // The tag is one token to a template that writes it, as llama.cpp has it, whatever its type.
    const bool on_request = is_special(id) || pieces_[i] == kEndOrTag;
    if ((always || on_request) && !pieces_[i].empty()) specials_.add(pieces_[i], id, always);
  }
}

void Tokenizer::prepare_end_of_generation() {
  for (const auto& id : {data_.eos, data_.eot, data_.eom}) {
    if (id) end_ids_.push_back(*id);
  }
  for (const std::string_view name : kEndNames) {
    if (const auto id = special_id(name)) end_ids_.push_back(*id);
  }
  if (const auto id = special_id(kEndOrTag); id && is_special(*id)) end_ids_.push_back(*id);
  std::sort(end_ids_.begin(), end_ids_.end());
  end_ids_.erase(std::unique(end_ids_.begin(), end_ids_.end()), end_ids_.end());
}

void Tokenizer::prepare_fingerprint() {
  Fnv hash;
  for (size_t id = 0; id < pieces_.size(); ++id) {
    hash.add(pieces_[id].size());
    hash.add(pieces_[id]);
    hash.add(is_special(static_cast<int32_t>(id)) ? 1u : 0u);
  }
  fingerprint_ = hash.hex();
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, bool add_bos_eos, bool parse_special, int* unknown_bytes) const {
  if (text.size() >= kMaxTextBytes) throw std::length_error("Tokenizer::encode: text of 2 GiB or more");
  std::vector<int32_t> ids;
  auto scratch = borrow_scratch();
  size_t unknown = 0;
  bool after_special = true;
  for (size_t at = 0; at < text.size();) {
    const SpecialTokens::Match special = specials_.find(text, at, parse_special);
    const size_t end = special.length == 0 ? text.size() : special.position;
    if (end > at) {
      unknown += subwords_->encode(text.substr(at, end - at), after_special, *scratch, ids);
      after_special = false;
    }
    at = end;
    if (special.length != 0) {
      ids.push_back(special.id);
      at += special.length;
      after_special = true;
    }
  }
  give_back(std::move(scratch));

  if (add_bos_eos && adds_bos() && (ids.empty() || ids.front() != *data_.bos)) ids.insert(ids.begin(), *data_.bos);
  if (add_bos_eos && adds_eos()) ids.push_back(*data_.eos);
  if (unknown_bytes != nullptr) *unknown_bytes = static_cast<int>(unknown);
  return ids;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool show_special) const {
  std::string text;
  bool strip_space = data_.add_space_prefix;
  for (const int32_t id : ids) {
    const std::string_view bytes = decode_step(id, &strip_space);
    if (show_special || !is_special(id)) text += bytes;
  }
  return text;
}

std::string_view Tokenizer::decode_step(int32_t id, bool* strip_space) const {
  if (!in_vocabulary(id)) return {};
  std::string_view bytes = pieces_[static_cast<size_t>(id)];
  if (is_special(id) || type(id) == TokenType::user_defined) {
    *strip_space = data_.add_space_prefix;  // encode() puts a space behind these too
  } else if (!bytes.empty()) {
    if (*strip_space && bytes.front() == ' ') bytes.remove_prefix(1);
    *strip_space = false;
  }
  return bytes;
}

const std::string& Tokenizer::piece(int32_t id) const {
  static const std::string empty;
  return in_vocabulary(id) ? pieces_[static_cast<size_t>(id)] : empty;
}

std::optional<int32_t> Tokenizer::special_id(std::string_view name) const {
  const SpecialTokens::Match match = specials_.find(name, 0, true);
  if (match.length == 0 || match.length != name.size()) return std::nullopt;
  return match.id;
}

bool Tokenizer::is_special(int32_t id) const {
  return id >= 0 && static_cast<size_t>(id) < data_.types.size() && (type(id) == TokenType::control || type(id) == TokenType::unknown);
}

bool Tokenizer::is_end_of_generation(int32_t id) const { return std::binary_search(end_ids_.begin(), end_ids_.end(), id); }

std::unique_ptr<SubwordScratch> Tokenizer::borrow_scratch() const {
  {
    const std::lock_guard lock(scratch_mutex_);
    if (!scratch_pool_.empty()) {
      auto scratch = std::move(scratch_pool_.back());
      scratch_pool_.pop_back();
      return scratch;
    }
  }
  return std::make_unique<SubwordScratch>();
}

void Tokenizer::give_back(std::unique_ptr<SubwordScratch> scratch) const {
  if (scratch->memory() > kMaxIdleScratchBytes) return;
  const std::lock_guard lock(scratch_mutex_);
  scratch_pool_.push_back(std::move(scratch));
}

}  // namespace outrider::text
