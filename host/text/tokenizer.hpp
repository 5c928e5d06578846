// Text to token ids and back, for the two families of vocabularies a GGUF file carries: byte-level BPE (`gpt2`) and
// SentencePiece-style (`llama`). Encoding never fails and never refuses a byte string: what is not valid UTF-8 is encoded byte
// by byte, and decoding gives the same bytes back. It renders no chat template and knows no model.
//
// A Tokenizer is immutable once made; every const function may be called from any thread at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "text/special_tokens.hpp"
#include "text/tokenizer_data.hpp"

namespace outrider::text {

class SubwordModel;
class SubwordScratch;

class Tokenizer {
 public:
  // Errors: an unknown `model` or `pre` (the message lists the known ones), lists whose lengths disagree, a malformed merge, a
  // special id outside the vocabulary, a token type that does not exist.
  static Result<std::unique_ptr<Tokenizer>> create(TokenizerData data);
  ~Tokenizer();

  // The ids of `text` (any bytes; below 2 GiB, else std::length_error). User-defined tokens in the text always become their
  // ids; control tokens ("<|im_start|>") only when `parse_special`, so that text from a user cannot forge them otherwise.
  // With `add_bos_eos` the vocabulary's own rule is followed: BOS in front (unless the text already starts with it), EOS at the
  // end. A byte that no token covers becomes the unknown token, or nothing where the vocabulary has no unknown token;
  // `*unknown_bytes` (when given) is set to the number of such bytes.
  [[nodiscard]] std::vector<int32_t> encode(std::string_view text, bool add_bos_eos, bool parse_special,
                                            int* unknown_bytes = nullptr) const;

  // The bytes of `ids`, exactly: decode(encode(text, false, true)) == text whenever encode met no unknown byte. An id outside the
  // vocabulary gives nothing. Without `show_special`, control and unknown tokens give nothing. The bytes need not be valid
  // UTF-8 when the ids end, or begin, inside a character.
  [[nodiscard]] std::string decode(std::span<const int32_t> ids, bool show_special = true) const;

  // One step of decode(): the bytes of `id` behind the tokens seen so far. `*strip_space` carries the state: start with
  // adds_space_prefix() at the start of a text, with false inside one.
  [[nodiscard]] std::string_view decode_step(int32_t id, bool* strip_space) const;

  // The bytes one token adds to a text; a special token's own name. Empty for an id outside the vocabulary.
  [[nodiscard]] const std::string& piece(int32_t id) const;

  // The id of a special (control, unknown or user-defined) token by its name, "<|im_end|>"; nothing when there is none.
  [[nodiscard]] std::optional<int32_t> special_id(std::string_view name) const;

  [[nodiscard]] int32_t vocab_size() const { return static_cast<int32_t>(pieces_.size()); }
  [[nodiscard]] bool is_special(int32_t id) const;            // a control or unknown token: not part of the text
  [[nodiscard]] bool is_end_of_generation(int32_t id) const;  // eos, eot, eom, "<|im_end|>", "<end_of_turn>", …
  [[nodiscard]] const std::vector<int32_t>& end_of_generation() const { return end_ids_; }  // ascending
  [[nodiscard]] std::optional<int32_t> bos() const { return data_.bos; }
  [[nodiscard]] std::optional<int32_t> eos() const { return data_.eos; }
  [[nodiscard]] std::optional<int32_t> eot() const { return data_.eot; }
  [[nodiscard]] std::optional<int32_t> unknown() const { return data_.unknown; }
  [[nodiscard]] std::optional<int32_t> padding() const { return data_.padding; }
  [[nodiscard]] bool adds_bos() const { return data_.add_bos && data_.bos.has_value(); }
  [[nodiscard]] bool adds_eos() const { return data_.add_eos && data_.eos.has_value(); }
  // True for vocabularies that put a space in front of a text (and of what follows a special token); decode takes it off again.
  [[nodiscard]] bool adds_space_prefix() const { return data_.add_space_prefix; }
  [[nodiscard]] const std::string& model() const { return data_.model; }  // "gpt2" or "llama"

  // 16 hexadecimal digits that are equal where every id stands for the same bytes and is special alike, on any machine and in any
  // version. Not cryptographic. Merges and the pre-tokenizer are not part of it: they change how text is cut, not what ids mean.
  [[nodiscard]] const std::string& fingerprint() const { return fingerprint_; }

 private:
  explicit Tokenizer(TokenizerData data);
  Result<void> prepare();
  void prepare_pieces();
  void prepare_end_of_generation();
  void prepare_fingerprint();

  [[nodiscard]] bool in_vocabulary(int32_t id) const { return id >= 0 && id < vocab_size(); }
  [[nodiscard]] TokenType type(int32_t id) const { return static_cast<TokenType>(data_.types[static_cast<size_t>(id)]); }
  std::unique_ptr<SubwordScratch> borrow_scratch() const;
  void give_back(std::unique_ptr<SubwordScratch> scratch) const;

  TokenizerData data_;               // tokens, scores and merges are released once the model is built
  std::vector<std::string> pieces_;  // bytes of each token, by id
  std::vector<int32_t> end_ids_;     // ascending
  SpecialTokens specials_;
  std::unique_ptr<SubwordModel> subwords_;
  std::string fingerprint_;

  mutable std::mutex scratch_mutex_;  // guards the pool: buffers and word caches, one for each thread encoding at the same time
  mutable std::vector<std::unique_ptr<SubwordScratch>> scratch_pool_;
};

}  // namespace outrider::text
