// Vocabularies small enough to work out by hand, and the tokenizers of the real models where their files are at hand.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "formats/gguf.hpp"
#include "text/byte_alphabet.hpp"
#include "text/tokenizer.hpp"
#include "text/utf8.hpp"

namespace outrider::text::testing {

inline std::string bytes_to_letters(std::string_view bytes) {
  std::string letters;
  for (const char byte : bytes) append_utf8(letters, byte_to_letter(static_cast<unsigned char>(byte)));
  return letters;
}

inline void add_token(TokenizerData& data, const std::string& token, TokenType type = TokenType::normal, float score = 0) {
  data.tokens.push_back(token);
  data.types.push_back(static_cast<int32_t>(type));
  if (data.model == "llama") data.scores.push_back(score);
}

inline std::unique_ptr<Tokenizer> make(TokenizerData data) {
  auto tokenizer = Tokenizer::create(std::move(data));
  INFO((tokenizer ? "" : tokenizer.error().message));
  REQUIRE(tokenizer.ok());
  return *std::move(tokenizer);
}

inline std::string error_of(TokenizerData data) {
  const auto tokenizer = Tokenizer::create(std::move(data));
  return tokenizer ? "" : tokenizer.error().message;
}

// Byte-level BPE in which id b is the byte b; then `words` (ids from 256), each made from its bytes by merges from the left.
inline TokenizerData byte_vocabulary(const std::vector<std::string>& words = {}, const std::string& pre = "gpt-2") {
  TokenizerData data;
  data.model = "gpt2";
  data.pre = pre;
  for (int byte = 0; byte < 256; ++byte) add_token(data, bytes_to_letters(std::string(1, static_cast<char>(byte))));
  for (const std::string& word : words) {
    add_token(data, bytes_to_letters(word));
    for (size_t length = 1; length < word.size(); ++length) {
      data.merges.push_back(bytes_to_letters(word.substr(0, length)) + " " + bytes_to_letters(word.substr(length, 1)));
    }
  }
  return data;
}

// SentencePiece-style: <unk> 0, <s> 1, </s> 2, then the bytes (byte b is 3 + b). Ordinary tokens follow, from 259.
inline TokenizerData piece_vocabulary(bool with_bytes = true) {
  TokenizerData data;
  data.model = "llama";
  data.unknown = 0;
  data.bos = 1;
  data.eos = 2;
  add_token(data, "<unk>", TokenType::unknown);
  add_token(data, "<s>", TokenType::control);
  add_token(data, "</s>", TokenType::control);
  for (int byte = 0; with_bytes && byte < 256; ++byte) {
    const char* digits = "0123456789ABCDEF";
    add_token(data, std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">", TokenType::byte);
  }
  return data;
}

// The same text on every machine: a multiplicative congruential generator (Knuth's MMIX constants), its high bits.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  size_t below(size_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state_ >> 33) % limit;
  }

 private:
  uint64_t state_;
};

inline std::filesystem::path model_path(const std::string& name) {
  const char* folder = std::getenv("OUTRIDER_MODELS");
  const char* home = std::getenv("HOME");
  const std::filesystem::path models = folder != nullptr ? std::filesystem::path(folder)
                                                         : std::filesystem::path(home != nullptr ? home : "/") / ".cache/outrider/models";
  return models / (name + ".gguf");
}

// The tokenizer of a model that is at hand; nullptr, and a line that says so, for one that is not.
inline std::unique_ptr<Tokenizer> model_tokenizer(const std::string& name) {
  const auto path = model_path(name);
  if (!std::filesystem::exists(path)) {
    WARN("SKIPPED: " << path << " is not there; scripts/fetch-model " << name << " fetches it");
    return nullptr;
  }
  auto file = formats::GgufFile::open(path);
  REQUIRE(file.ok());
  auto data = read_tokenizer(*file);
  INFO((data ? "" : data.error().message));
  REQUIRE(data.ok());
  return make(*std::move(data));
}

struct ReferenceLine {
  std::string text;
  std::vector<int32_t> ids;
};

inline std::vector<ReferenceLine> reference_lines(const std::string& model) {
  std::ifstream file(std::string(OUTRIDER_TEST_DATA "/reference/tokenizer_") + model + ".jsonl");
  std::vector<ReferenceLine> lines;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    lines.push_back({json.at("text"), json.at("ids")});
  }
  REQUIRE(lines.size() == 440);
  return lines;
}

}  // namespace outrider::text::testing
