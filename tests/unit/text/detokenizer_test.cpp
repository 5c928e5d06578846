#include "text/detokenizer.hpp"

#include "small_vocabularies.hpp"

using namespace outrider::text;
using namespace outrider::text::testing;
using Ids = std::vector<int32_t>;
using Options = DetokenizerStream::Options;

namespace {

// The text a stream of bytes gives, one id a byte, with a bar between what different ids gave.
std::string pushes(DetokenizerStream& stream, std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) out += stream.push(static_cast<unsigned char>(byte)) + "|";
  return out + stream.finish();
}

struct Streamed {
  std::string text;
  bool valid = true;  // every piece on its own
};

Streamed stream_all(DetokenizerStream& stream, const Ids& ids) {
  Streamed result;
  const auto add = [&](const std::string& piece) {
    result.valid = result.valid && valid_utf8_prefix(piece) == piece.size();
    result.text += piece;
  };
  for (const int32_t id : ids) add(stream.push(id));
  add(stream.finish());
  return result;
}

// A vocabulary of the pieces of `text`, cut at random, and the ids that spell it.
std::pair<std::unique_ptr<Tokenizer>, Ids> cut_at_random(const std::string& text, Random& random) {
  TokenizerData data = byte_vocabulary();
  Ids ids;
  for (size_t at = 0; at < text.size();) {
    const size_t length = std::min(1 + random.below(6), text.size() - at);
    ids.push_back(static_cast<int32_t>(data.tokens.size()));
    add_token(data, bytes_to_letters(text.substr(at, length)));
    at += length;
  }
  return {make(data), ids};
}

}  // namespace

TEST_CASE("a character is handed out when its last byte has come") {
  const auto tokenizer = make(byte_vocabulary());
  DetokenizerStream stream(*tokenizer);
  CHECK(pushes(stream, "a\u00E9\u6F22\U0001F642") == "a||\u00E9|||\u6F22||||\U0001F642|");
}

TEST_CASE("bytes that cannot become a character turn into U+FFFD as soon as that is certain, and not before") {
  const auto tokenizer = make(byte_vocabulary());
  const auto streamed = [&](std::string_view bytes) {
    DetokenizerStream stream(*tokenizer);
    return pushes(stream, bytes);
  };
  CHECK(streamed("\xE6" "A") == "|\uFFFDA|");
  CHECK(streamed("\x80" "A") == "\uFFFD|A|");
  CHECK(streamed("\xE6\xBC") == "||\uFFFD");        // one for the whole unfinished character
  CHECK(streamed("\xE6\xBC\xE6\xBC\xA2") == "||\uFFFD||\u6F22|");
  CHECK(streamed("\xED\xA0") == "|\uFFFD\uFFFD|");  // a surrogate: its second byte is already impossible
  CHECK(streamed("\xF4\x90") == "|\uFFFD\uFFFD|");
  CHECK(streamed("\xC0\xAF") == "\uFFFD|\uFFFD|");
}

TEST_CASE("the text does not depend on how bytes were cut into tokens, and every piece is valid") {
  const std::string good = "na\u00EFve \u6F22\u5B57 \U0001F642\U0001F469\u200D\U0001F680 end\u0301.";
  const std::string bad = "ok \xFF\xE6\xBC x \xF0\x9F\x99 y\xED\xA0\x80 \xC3";
  Random random(6);
  for (const std::string& text : {good, bad, good + bad + good}) {
    for (int round = 0; round < 40; ++round) {
      const auto [tokenizer, ids] = cut_at_random(text, random);
      CHECK(tokenizer->decode(ids) == text);
      DetokenizerStream stream(*tokenizer);
      const Streamed streamed = stream_all(stream, ids);
      CHECK(streamed.text == to_valid_utf8(text));
      CHECK(streamed.valid);
      CHECK(stream.tokens() == ids.size());
    }
  }
}

TEST_CASE("text before a stop string is handed out, the stop string is not, and the token that completed it is known") {
  const auto tokenizer = make(byte_vocabulary());
  DetokenizerStream stream(*tokenizer, {"no", "END"});
  CHECK(pushes(stream, "ab ENx") == "a|b| |||ENx|");  // a false start is given back at once
  CHECK_FALSE(stream.stopped());
  CHECK(pushes(stream, "yENDz") == "y|||||");
  REQUIRE(stream.stop().has_value());
  CHECK(stream.stop()->tokens == 10);  // six before, then y E N D
  CHECK(stream.stop()->stop_index == 1);
  CHECK(stream.push('q').empty());
  CHECK(stream.finish().empty());
}

TEST_CASE("a stop string is found inside a token, across tokens, and behind a false start that overlaps it") {
  const auto find = [](const std::string& text, const std::string& stop) {
    Random random(7);
    for (int round = 0; round < 20; ++round) {
      const auto [tokenizer, ids] = cut_at_random(text, random);
      DetokenizerStream stream(*tokenizer, {stop});
      std::string out;
      const size_t used = stream.push_all(ids, out);
      out += stream.finish();
      CHECK(out == text.substr(0, text.find(stop)));
      // The ids that count are those up to the one whose bytes complete the stop string.
      size_t bytes = 0;
      size_t expected = 0;
      while (bytes < text.find(stop) + stop.size()) bytes += tokenizer->piece(ids[expected++]).size();
      CHECK(used == expected);
      REQUIRE(stream.stopped());
      CHECK(stream.stop()->tokens == expected);
      std::string more;
      CHECK(stream.push_all(ids, more) == 0);
      CHECK(more.empty());
    }
  };
  find("one two STOP three", "STOP");
  find("aaab", "aab");
  find("abababac and more", "ababac");
  find("\u6F22\u5B57\u3002\u6F22", "\u3002");
  find("STOP", "STOP");
}

TEST_CASE("of several stop strings the one completed first counts, the longest where two end together") {
  const auto tokenizer = make(byte_vocabulary());
  const auto stop = [&](std::vector<std::string> stops, const std::string& text) {
    DetokenizerStream stream(*tokenizer, std::move(stops));
    const std::string out = stream_all(stream, Ids(text.begin(), text.end())).text;
    return std::pair(out, stream.stop() ? static_cast<int>(stream.stop()->stop_index) : -1);
  };
  CHECK(stop({"abcd", "bc"}, "xabcd") == std::pair<std::string, int>("xa", 1));
  CHECK(stop({"bc", "abc"}, "xabcd") == std::pair<std::string, int>("x", 1));
  CHECK(stop({"", "zz"}, "abc") == std::pair<std::string, int>("abc", -1));  // an empty stop string stops nothing
  CHECK(stop({"ab", "ab"}, "ab") == std::pair<std::string, int>("", 0));
}

TEST_CASE("the stop string is handed out when asked for, and nothing behind it") {
  const auto tokenizer = make(byte_vocabulary({"P!!"}));
  DetokenizerStream stream(*tokenizer, Options{.stop_strings = {"STOP"}, .include_stop = true});
  CHECK(stream_all(stream, {'a', 'S', 'T', 'O', 256}).text == "aSTOP");
}

TEST_CASE("a character left unfinished before a stop string is replaced") {
  const auto tokenizer = make(byte_vocabulary());
  DetokenizerStream stream(*tokenizer, {"END"});
  CHECK(stream_all(stream, {0xE6, 0xBC, 'E', 'N', 'D'}).text == "\uFFFD");
}

TEST_CASE("finish hands out a beginning of a stop string that never ended") {
  const auto tokenizer = make(byte_vocabulary());
  DetokenizerStream stream(*tokenizer, {"END"});
  CHECK(pushes(stream, "xEN") == "x|||EN");
  CHECK_FALSE(stream.holding());
}

TEST_CASE("special tokens give no text unless asked for, but can be named as a stop string") {
  TokenizerData data = byte_vocabulary();
  add_token(data, "<|end|>", TokenType::control);
  const auto tokenizer = make(data);
  DetokenizerStream hidden(*tokenizer, {"ab"});
  CHECK(stream_all(hidden, {'x', 256, 'y'}).text == "xy");
  DetokenizerStream shown(*tokenizer, Options{.show_special = true});
  CHECK(stream_all(shown, {'x', 256, 'y'}).text == "x<|end|>y");
  DetokenizerStream named(*tokenizer, {"<|end|>"});
  CHECK(stream_all(named, {'x', '<', 256, 'y'}).text == "x<");
  REQUIRE(named.stopped());
  CHECK(named.stop()->tokens == 3);
  DetokenizerStream seen(*tokenizer, {"ab"});  // what is not shown does not come between
  CHECK(stream_all(seen, {'x', 'a', 256, 'b', 'y'}).text == "x");
}

TEST_CASE("the space that encode added is taken off only at the start of a text") {
  TokenizerData data = piece_vocabulary();
  add_token(data, "\u2581a", TokenType::normal);  // 259
  data.add_space_prefix = true;
  const auto tokenizer = make(data);
  DetokenizerStream continued(*tokenizer);
  CHECK(stream_all(continued, {259, 259}).text == " a a");
  DetokenizerStream start(*tokenizer, Options{.text_start = true});
  CHECK(stream_all(start, {259, 259}).text == "a a");
}

TEST_CASE("a copy of a stream goes on by itself") {
  const auto tokenizer = make(byte_vocabulary());
  DetokenizerStream stream(*tokenizer, {"END"});
  CHECK(stream.push('E').empty());
  DetokenizerStream copy = stream;
  CHECK(copy.push('x') == "Ex");
  CHECK(stream.push('N').empty());
  CHECK(stream.push('D').empty());
  CHECK(stream.stopped());
  CHECK_FALSE(copy.stopped());
}

TEST_CASE("ids outside the vocabulary count as tokens and give no text") {
  const auto tokenizer = make(byte_vocabulary());
  DetokenizerStream stream(*tokenizer);
  CHECK(stream_all(stream, {'a', -1, 1 << 30, 'b'}).text == "ab");
  CHECK(stream.tokens() == 4);
}
