#include <ctime>
#include <limits>
#include <map>

#include "small_vocabularies.hpp"

using namespace outrider::text;
using namespace outrider::text::testing;
using Catch::Matchers::Contains;
using Ids = std::vector<int32_t>;

namespace {

constexpr int32_t byte_id(unsigned char byte) { return 3 + byte; }

// <unk> <s> </s>, bytes, then 259 ▁ · 260 a · 261 b · 262 c · 263 ab · 264 bc · 265 ▁a · 266 aa
TokenizerData abc() {
  TokenizerData data = piece_vocabulary();
  for (const char* letter : {"\u2581", "a", "b", "c"}) add_token(data, letter, TokenType::normal, -100);
  add_token(data, "ab", TokenType::normal, -2);
  add_token(data, "bc", TokenType::normal, -1);
  add_token(data, "\u2581a", TokenType::normal, -3);
  add_token(data, "aa", TokenType::normal, -4);
  return data;
}

// The definition, in quadratic time: again and again, the leftmost pair whose result has the highest score.
Ids join_slowly(const std::vector<std::string>& characters, const std::map<std::string, std::pair<int32_t, float>>& tokens) {
  std::vector<std::string> symbols = characters;
  while (true) {
    float best = -std::numeric_limits<float>::infinity();
    size_t where = symbols.size();
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = tokens.find(symbols[i] + symbols[i + 1]);
      if (found != tokens.end() && found->second.second > best) best = found->second.second, where = i;
    }
    if (where == symbols.size()) break;
    symbols[where] += symbols[where + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
  Ids ids;
  for (const std::string& symbol : symbols) ids.push_back(tokens.at(symbol).first);
  return ids;
}

}  // namespace

TEST_CASE("pieces are joined by score, and from the left where equal") {
  const auto tokenizer = make(abc());
  CHECK(tokenizer->encode("abc", false, false) == Ids{260, 264});    // bc before ab
  CHECK(tokenizer->encode("aba", false, false) == Ids{263, 260});
  CHECK(tokenizer->encode("aaa", false, false) == Ids{266, 260});    // the leftmost pair
  CHECK(tokenizer->encode(" ab", false, false) == Ids{259, 263});    // ab before ▁a
  CHECK(tokenizer->encode("c a", false, false) == Ids{262, 265});
  CHECK(tokenizer->encode("", false, false).empty());
  CHECK(tokenizer->decode(Ids{262, 265}) == "c a");
}

TEST_CASE("a leading space is added where the vocabulary wants one, and taken off by decode") {
  TokenizerData data = abc();
  data.add_space_prefix = true;
  const auto tokenizer = make(data);
  CHECK(tokenizer->encode("a", false, false) == Ids{265});
  CHECK(tokenizer->encode(" a", false, false) == Ids{259, 265});
  CHECK(tokenizer->encode("a<s>a", false, true) == Ids{265, 1, 265});
  CHECK(tokenizer->encode("", false, false).empty());
  for (const char* text : {"a", " a", "  a b ", "a<s>a", "<s> a", "<s><s>"}) {
    CHECK(tokenizer->decode(tokenizer->encode(text, false, true)) == text);
  }
  CHECK(tokenizer->piece(265) == " a");
}

TEST_CASE("what is no piece falls back to the tokens of its bytes") {
  const auto tokenizer = make(abc());
  CHECK(tokenizer->encode("é", false, false) == Ids{byte_id(0xC3), byte_id(0xA9)});
  CHECK(tokenizer->encode("a\n", false, false) == Ids{260, byte_id('\n')});
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  for (const std::string& text : {all, std::string("\0a\0", 3), std::string("\xE6\xBC"), std::string("a\xFF\xFE")}) {
    int unknown = -1;
    CHECK(tokenizer->decode(tokenizer->encode(text, false, true, &unknown)) == text);
    CHECK(unknown == 0);
  }
}

TEST_CASE("without byte tokens a character that is no piece is one unknown token, its bytes counted") {
  TokenizerData data = piece_vocabulary(false);
  add_token(data, "a");
  int unknown = -1;
  CHECK(make(data)->encode("aéa", false, false, &unknown) == Ids{3, 0, 3});
  CHECK(unknown == 2);
}

TEST_CASE("control and byte tokens are never joined from text") {
  TokenizerData data = piece_vocabulary();
  for (const char* piece : {"<", "s", ">", "<s"}) add_token(data, piece);  // 259 to 262
  const auto tokenizer = make(data);
  CHECK(tokenizer->encode("<s>", false, false) == Ids{262, 261});
  CHECK(tokenizer->encode("<s>", false, true) == Ids{1});
}

TEST_CASE("the heap and the cuts at spaces join exactly as the definition does") {
  Random random(4);
  for (int round = 0; round < 100; ++round) {
    TokenizerData data = piece_vocabulary();
    std::map<std::string, std::pair<int32_t, float>> tokens;
    const auto add = [&](const std::string& piece, float score) {
      if (!tokens.emplace(piece, std::pair(static_cast<int32_t>(data.tokens.size()), score)).second) return;
      add_token(data, piece, TokenType::normal, score);
    };
    const std::vector<std::string> characters = {"a", "é", "\u2581"};
    for (const std::string& character : characters) add(character, -100);
    std::vector<std::string> pieces = characters;
    for (int n = 0; n < 12; ++n) {  // some with a space inside, so that not every space is a place to cut
      pieces.push_back(pieces[random.below(pieces.size())] + pieces[random.below(pieces.size())]);
      add(pieces.back(), -static_cast<float>(random.below(6)));
    }
    const auto tokenizer = make(data);
    for (int t = 0; t < 20; ++t) {
      std::string text;
      std::vector<std::string> symbols;
      for (size_t n = 1 + random.below(40); n > 0; --n) {
        symbols.push_back(characters[random.below(3)]);
        text += symbols.back() == "\u2581" ? " " : symbols.back();
      }
      const Ids expected = join_slowly(symbols, tokens);
      CHECK(tokenizer->encode(text, false, false) == expected);
      CHECK(tokenizer->encode(text, false, false) == expected);  // now from the cache
      CHECK(tokenizer->decode(expected) == text);
    }
  }
}

TEST_CASE("a megabyte on one line is encoded in seconds by pieces too") {
  const auto tokenizer = make(abc());
  for (const char letter : {'a', ' ', 'x'}) {
    const std::string line(1u << 20, letter);
    const std::clock_t started = std::clock();  // processor time: the machine may be busy
    CHECK(tokenizer->decode(tokenizer->encode(line, false, true)) == line);
    const auto seconds = static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
    CHECK(seconds < 30);  // the quadratic algorithm would take hours; generous to sanitizers
  }
}

TEST_CASE("a vocabulary of pieces without usable scores is refused with the reason") {
  TokenizerData data = abc();
  data.scores.pop_back();
  CHECK_THAT(error_of(data), Contains("tokenizer.ggml.scores") && Contains("267") && Contains("266"));
  data.scores.push_back(std::numeric_limits<float>::quiet_NaN());
  CHECK_THAT(error_of(data), Contains("tokenizer.ggml.scores[266]") && Contains("NaN"));
}
