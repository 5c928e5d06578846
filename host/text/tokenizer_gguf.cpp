#include <algorithm>
#include <utility>

#include "formats/gguf.hpp"
#include "text/pre_tokenizer.hpp"
#include "text/tokenizer_data.hpp"

namespace outrider::text {

namespace {

Result<std::vector<std::string>> read_strings(const formats::GgufFile& file, std::string_view key) {
  OUTRIDER_TRY(const auto views, file.strings(key));
  return std::vector<std::string>(views.begin(), views.end());
}

// A token's id, nothing where the file has none. Files write "none" as the largest 32-bit number too.
Result<std::optional<int32_t>> read_id(const formats::GgufFile& file, const std::string& key, std::optional<int32_t> fallback) {
  if (!file.has(key)) return fallback;
  OUTRIDER_TRY(const int64_t id, file.integer(key));
  if (id == -1 || id == int64_t{UINT32_MAX}) return std::optional<int32_t>();
  if (id < 0 || id > INT32_MAX) {
    return Error{key + ": expected a token's id, found " + std::to_string(id) + "; the file is damaged, fetch or convert it again"};
  }
  return std::optional(static_cast<int32_t>(id));
}

}  // namespace

Result<TokenizerData> read_tokenizer(const formats::GgufFile& file) {
  const std::string prefix = "tokenizer.ggml.";
  TokenizerData data;
  OUTRIDER_TRY(data.model, file.string(prefix + "model"));
  OUTRIDER_TRY(data.tokens, read_strings(file, prefix + "tokens"));
  OUTRIDER_TRY(data.pre, file.value_or(prefix + "pre", std::string_view{}));
  if (file.has(prefix + "scores")) {
    OUTRIDER_TRY(data.scores, file.floats(prefix + "scores"));
  }
  if (file.has(prefix + "token_type")) {
    OUTRIDER_TRY(const auto types, file.integers(prefix + "token_type"));
    data.types.reserve(types.size());
    // What does not fit is no type at all; Tokenizer::create says so.
    for (const int64_t type : types) data.types.push_back(static_cast<int32_t>(std::clamp<int64_t>(type, -1, INT32_MAX)));
  }
  if (file.has(prefix + "merges")) {
    OUTRIDER_TRY(data.merges, read_strings(file, prefix + "merges"));
  }

  const bool sentence_piece = data.model == "llama";
  const auto fallback = [&](int32_t id) { return sentence_piece ? std::optional(id) : std::nullopt; };
  OUTRIDER_TRY(data.bos, read_id(file, prefix + "bos_token_id", fallback(1)));
  OUTRIDER_TRY(data.eos, read_id(file, prefix + "eos_token_id", fallback(2)));
  OUTRIDER_TRY(data.unknown, read_id(file, prefix + "unknown_token_id", fallback(0)));
  OUTRIDER_TRY(data.eot, read_id(file, prefix + "eot_token_id", std::nullopt));
  OUTRIDER_TRY(data.eom, read_id(file, prefix + "eom_token_id", std::nullopt));
  OUTRIDER_TRY(data.padding, read_id(file, prefix + "padding_token_id", std::nullopt));
  const bool adds_bos = sentence_piece || PreTokenizer::adds_bos_by_default(data.pre);
  OUTRIDER_TRY(data.add_bos, file.value_or(prefix + "add_bos_token", adds_bos));
  OUTRIDER_TRY(data.add_eos, file.value_or(prefix + "add_eos_token", false));
  OUTRIDER_TRY(data.add_space_prefix, file.value_or(prefix + "add_space_prefix", sentence_piece));
  if (!sentence_piece) data.add_space_prefix = false;  // byte-level BPE has no such thing, whatever the file says
  return data;
}

}  // namespace outrider::text
