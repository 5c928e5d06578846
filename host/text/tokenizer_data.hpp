// A vocabulary as plain data, as a GGUF file describes it, and the function that reads it from one. Nothing here is checked
// beyond its type: Tokenizer::create does that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace outrider::formats {
class GgufFile;
}

namespace outrider::text {

enum class TokenType : int32_t {  // tokenizer.ggml.token_type
  undefined = 0,                  // treated as normal
  normal = 1,
  unknown = 2,
  control = 3,       // never text: <|im_start|>, <bos>
  user_defined = 4,  // text that is always one token
  unused = 5,
  byte = 6,  // "<0x0A>"
};

struct TokenizerData {
  std::string model;                // "gpt2": byte-level BPE; "llama": SentencePiece-style
  std::string pre;                  // the pre-tokenizer's name; gpt2 only
  std::vector<std::string> tokens;  // by id; gpt2: in the byte alphabet, llama: with U+2581 for a space
  std::vector<float> scores;        // by id; llama only: the higher, the earlier it is merged
  std::vector<int32_t> types;       // TokenType by id; empty: all normal
  std::vector<std::string> merges;  // gpt2 only: "left right", best first
  std::optional<int32_t> bos, eos, eot, eom, unknown, padding;
  bool add_bos = false;
  bool add_eos = false;
  bool add_space_prefix = false;  // llama only
};

// Reads the tokenizer.ggml.* keys. Defaults where a key is absent are the format's: for "llama" bos 1, eos 2, unknown 0, BOS and
// a leading space added; for "gpt2" nothing, but BOS is added for the llama-3 pre-tokenizers. Errors: a missing vocabulary, a key
// of another type than it must have.
Result<TokenizerData> read_tokenizer(const formats::GgufFile& file);

}  // namespace outrider::text
