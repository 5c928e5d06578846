#include <ctime>
#include <map>
#include <thread>

#include "small_vocabularies.hpp"
#include "text/pre_tokenizer.hpp"

using namespace outrider::text;
using namespace outrider::text::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Ids = std::vector<int32_t>;
using Words = std::vector<std::string>;

namespace {

Words split(const std::string& pre, const std::string& text, bool allow_jit = true) {
  auto pre_tokenizer = PreTokenizer::create(pre, allow_jit);
  REQUIRE(pre_tokenizer.ok());
  PreTokenizer::Scratch scratch;
  std::vector<std::string_view> words;
  pre_tokenizer->split(text, scratch, words);
  return {words.begin(), words.end()};
}

// The definition, in quadratic time: again and again, the leftmost pair of the best rank.
std::vector<std::string> merge_slowly(const std::string& word, const std::vector<std::string>& merges) {
  std::map<std::string, size_t> rank;
  for (size_t i = 0; i < merges.size(); ++i) rank.emplace(merges[i], i);
  std::vector<std::string> symbols;
  for (const char c : word) symbols.emplace_back(1, c);
  while (true) {
    size_t best = merges.size();
    size_t where = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = rank.find(symbols[i] + " " + symbols[i + 1]);
      if (found != rank.end() && found->second < best) best = found->second, where = i;
    }
    if (best == merges.size()) return symbols;
    symbols[where] += symbols[where + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

}  // namespace

TEST_CASE("merges are applied by rank, and from the left where equal") {
  TokenizerData data = byte_vocabulary();
  for (const char* token : {"bc", "ab", "aa", "abc"}) add_token(data, token);  // 256 to 259
  data.merges = {"b c", "a b", "a a", "ab c"};
  const auto tokenizer = make(data);
  CHECK(tokenizer->encode("abc", false, false) == Ids{'a', 256});  // "b c" comes before "a b", so "ab c" never gets its turn
  CHECK(tokenizer->encode("abb", false, false) == Ids{257, 'b'});
  CHECK(tokenizer->encode("aaa", false, false) == Ids{258, 'a'});
  CHECK(tokenizer->encode("aaaab", false, false) == Ids{258, 'a', 257});  // "a b" goes first
  CHECK(tokenizer->encode("", false, false).empty());
}

TEST_CASE("a merge may go through a symbol that is no token, and falls back to bytes where it stops there") {
  TokenizerData data = byte_vocabulary();
  add_token(data, "abc");  // 256; "ab" is no token
  data.merges = {"a b", "ab c"};
  const auto tokenizer = make(data);
  CHECK(tokenizer->encode("abc", false, false) == Ids{256});
  CHECK(tokenizer->encode("abd", false, false) == Ids{'a', 'b', 'd'});
}

TEST_CASE("a byte that no token covers becomes the unknown token and is counted") {
  TokenizerData data;
  data.model = "gpt2";
  data.pre = "gpt-2";
  data.unknown = 0;
  add_token(data, "<|endoftext|>", TokenType::control);
  add_token(data, "a");
  int unknown = -1;
  CHECK(make(data)->encode("aba\xFF", false, false, &unknown) == Ids{1, 0, 1, 0});
  CHECK(unknown == 2);
  data.unknown.reset();
  CHECK(make(data)->encode("aba\xFF", false, false, &unknown) == Ids{1, 1});
  CHECK(unknown == 2);
  CHECK(make(data)->encode("aa", false, false, &unknown) == Ids{1, 1});
  CHECK(unknown == 0);
}

TEST_CASE("any bytes are encoded, and decoding gives them back") {
  const auto tokenizer = make(byte_vocabulary({"th", "the", "\xC3\xA9", "\xE6\xBC"}));
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  const std::string nul("a\0b\0", 4);
  const std::string impossible = "\xED\xA0\x80\xF4\x90\x80\x80\xC0\x80";
  for (const std::string& text : {all, nul, impossible, std::string("\xC3"), std::string("the \xE6\xBC")}) {
    int unknown = -1;
    const Ids ids = tokenizer->encode(text, false, true, &unknown);
    CHECK(tokenizer->decode(ids) == text);
    CHECK(unknown == 0);
  }
  CHECK(tokenizer->encode("the\xE6\xBC", false, false) == Ids{257, 259});
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    for (size_t n = random.below(64); n > 0; --n) text.push_back(static_cast<char>(random.below(256)));
    CHECK(tokenizer->decode(tokenizer->encode(text, false, false)) == text);
  }
}

TEST_CASE("the heap merges exactly as the definition does") {
  Random random(2);
  for (int round = 0; round < 60; ++round) {
    TokenizerData data = byte_vocabulary();
    std::vector<std::string> symbols = {"a", "b", "c"};
    std::map<std::string, int32_t> id = {{"a", 'a'}, {"b", 'b'}, {"c", 'c'}};
    for (int n = 0; n < 20; ++n) {
      const std::string left = symbols[random.below(symbols.size())];
      const std::string right = symbols[random.below(symbols.size())];
      data.merges.push_back(left + " " + right);
      if (!id.emplace(left + right, static_cast<int32_t>(data.tokens.size())).second) continue;
      add_token(data, left + right);
      symbols.push_back(left + right);
    }
    const auto tokenizer = make(data);
    for (int w = 0; w < 20; ++w) {
      std::string word;
      for (size_t n = 1 + random.below(40); n > 0; --n) word.push_back("abc"[random.below(3)]);
      Ids expected;
      for (const std::string& symbol : merge_slowly(word, data.merges)) expected.push_back(id.at(symbol));
      CHECK(tokenizer->encode(word, false, false) == expected);
      CHECK(tokenizer->encode(word, false, false) == expected);  // now from the cache
    }
  }
}

TEST_CASE("text is cut into words as each pre-tokenizer's name demands") {
  CHECK(split("gpt-2", "I'm  here\n\nnow 123!") == Words{"I", "'m", " ", " here", "\n", "\n", "now", " 123", "!"});
  CHECK(split("smollm", "a 12 b") == Words{"a", " ", "1", "2", " b"});
  CHECK(split("smollm", "x  7") == Words{"x", "  ", "7"});  // the space before a digit ends its fragment
  CHECK(split("llama-bpe", "1234567 don'T\n\n x") == Words{"123", "456", "7", " don", "'T", "\n\n", " x"});
  CHECK(split("qwen2", "12 a!\n b") == Words{"1", "2", " a", "!\n", " b"});
  CHECK(split("qwen2", "e\u0301x") == Words{"e", "\u0301x"});
  CHECK(split("qwen35", "e\u0301x") == Words{"e\u0301x"});
  CHECK(split("gpt-2", "\u180E!") == Words{"\u180E!"});               // U+180E has not been a space since Unicode 6.3
  CHECK(split("gpt-2", "\u00A0\u3000a") == Words{"\u00A0", "\u3000", "a"});  // these two are
  CHECK(split("qwen2", "tail   ") == Words{"tail", "   "});
  CHECK(split("gpt-2", "").empty());
}

TEST_CASE("names of one family cut alike") {
  const std::string text = "It's 2024, don't  you\tknow?\r\n ok";
  for (const char* alias : {"starcoder", "refact", "command-r", "codeshell", "exaone", "minerva", "minerva-7b"}) {
    CHECK(split(alias, text) == split("smollm", text));
  }
  for (const char* alias : {"llama3", "llama-v3"}) CHECK(split(alias, text) == split("llama-bpe", text));
  for (const char* alias : {"stablelm2", "hunyuan", "deepseek-r1-qwen"}) CHECK(split(alias, text) == split("qwen2", text));
  CHECK(split("qwen2", text) != split("llama-bpe", text));
  CHECK(split("gpt-2", text) != split("smollm", text));
}

TEST_CASE("the interpreter cuts as the compiled pattern does, words of a million characters too") {
  const std::vector<std::string> alphabet = {"a", "Z",  "'s", "'LL", " ",      "  ", "\n",     "\r\n",
                                             "\t", "7", "!", "é", "\u0301", "漢", "\u00A0", "🙂"};
  Random random(3);
  for (const char* pre : {"gpt-2", "smollm", "llama-bpe", "qwen2", "qwen35"}) {
    for (int round = 0; round < 50; ++round) {
      std::string text;
      for (int n = 0; n < 60; ++n) text += alphabet[random.below(alphabet.size())];
      const Words words = split(pre, text);
      CHECK(words == split(pre, text, false));
      std::string together;
      for (const std::string& word : words) together += word;
      CHECK(together == text);
    }
    for (const char* unit : {"a", "!", " ", "\n"}) {
      std::string text;
      while (text.size() < (1u << 20)) text += unit;
      CHECK(split(pre, text, false).size() == 1);
      CHECK(split(pre, text + "x", false) == split(pre, text + "x"));
    }
  }
}

TEST_CASE("a megabyte of one letter on one line is encoded in seconds, in any pre-tokenizer") {
  for (const char* pre : {"gpt-2", "smollm", "llama-bpe", "qwen2"}) {
    const auto tokenizer = make(byte_vocabulary({"aa", "aaa", "  "}, pre));
    for (const char letter : {'a', ' ', '!'}) {
      const std::string line(1u << 20, letter);
      const std::clock_t started = std::clock();  // processor time: the machine may be busy
      const Ids ids = tokenizer->encode(line, false, true);
      const auto seconds = static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
      CHECK(tokenizer->decode(ids) == line);
      CHECK(seconds < 30);  // the quadratic algorithm would take hours; generous to sanitizers
    }
  }
}

TEST_CASE("the llama-3 family takes a word that is a token whole, whatever the merges say") {
  const std::vector<std::string> merges = {"b c"};
  for (const auto& [pre, expected] : {std::pair<std::string, Ids>{"llama-bpe", {256}}, {"gpt-2", {'a', 257}}}) {
    TokenizerData data = byte_vocabulary({}, pre);
    add_token(data, "abc");
    add_token(data, "bc");
    data.merges = merges;
    CHECK(make(data)->encode("abc", false, false) == expected);
  }
}

TEST_CASE("many threads encode with one tokenizer") {
  const auto tokenizer = make(byte_vocabulary({"th", "the", "an", "and"}));
  const std::string text = "the man and the other man, and then another";
  const Ids expected = tokenizer->encode(text, false, false);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 200; ++round) wrong[t] += tokenizer->encode(text, false, false) != expected ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("a byte-level vocabulary that cannot be used is refused with the reason") {
  CHECK_THAT(error_of(byte_vocabulary({}, "klingon")), StartsWith("tokenizer.ggml.pre") && Contains("\"klingon\"") && Contains("smollm") &&
                                                           Contains("gpt-2") && Contains("qwen2") && Contains("llama-bpe"));
  CHECK_THAT(error_of(byte_vocabulary({}, "")), Contains("found none"));
  for (const char* merge : {"ab", "a ", "", " a"}) {
    TokenizerData data = byte_vocabulary({"th"});
    data.merges.push_back(merge);
    CHECK_THAT(error_of(data), StartsWith("tokenizer.ggml.merges[1]"));
  }
}
