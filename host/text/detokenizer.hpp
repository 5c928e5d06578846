// Turns a stream of token ids into text that can be shown at once: every piece of text handed out is valid UTF-8, is never taken
// back, and never contains the beginning of a stop string. What comes out in all does not depend on how the bytes were cut into
// tokens. It does not decide when a request ends by a token or by length.
//
// A stream belongs to one request and one thread at a time. It can be copied: the copy goes on from the same state. The Tokenizer
// must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

namespace outrider::text {

// Finds the first of several strings to be completed in bytes that arrive one by one (Knuth, Morris, Pratt 1977, for each string).
class StopMatcher {
 public:
  StopMatcher() = default;
  explicit StopMatcher(std::vector<std::string> stop_strings);  // empty strings never match

  // Takes one byte. Returns the index of the stop string it completes, the longest where there are several (the first given where
  // equal), or nothing.
  std::optional<size_t> push(char byte);

  // How many of the last bytes may be the beginning of a stop string.
  [[nodiscard]] size_t held() const { return held_; }
  [[nodiscard]] const std::vector<std::string>& strings() const { return strings_; }

 private:
  std::vector<std::string> strings_;
  std::vector<std::vector<uint32_t>> fallback_;  // by string, by matched length: the next shorter match to try
  std::vector<uint32_t> matched_;                // by string: how many of its bytes the last bytes are
  size_t held_ = 0;
};

class DetokenizerStream {
 public:
  struct Options {
    std::vector<std::string> stop_strings = {};  // bytes; empty ones are ignored
    bool include_stop = false;                   // hand out the stop string too
    bool show_special = false;                   // hand out control tokens by name
    bool text_start = false;  // the ids begin a text rather than continue one: the space that encode() added is taken off
  };

  // Where the first completed stop string ended.
  struct Stop {
    size_t tokens;      // ids pushed up to and including the one whose bytes completed it: keep this many, drop the rest
    size_t stop_index;  // which one, as an index into Options::stop_strings
  };

  explicit DetokenizerStream(const Tokenizer& tokenizer, std::vector<std::string> stop_strings = {});
  DetokenizerStream(const Tokenizer& tokenizer, Options options);

  // Takes one id and returns the text that has become certain; often empty. After a stop every id is ignored.
  std::string push(int32_t id);

  // Takes ids until they end or one completes a stop string; appends the text to `text`. Returns how many ids count: those up to
  // and including that one, which is ids.size() when there is no stop, and 0 when the stream had stopped before.
  size_t push_all(std::span<const int32_t> ids, std::string& text);

  // The text still held back: no more ids will come. A character that was not completed becomes U+FFFD. Empty after a stop.
  std::string finish();

  [[nodiscard]] const std::optional<Stop>& stop() const { return stop_; }
  [[nodiscard]] bool stopped() const { return stop_.has_value(); }
  [[nodiscard]] size_t tokens() const { return tokens_; }  // ids taken so far
  [[nodiscard]] bool holding() const { return !pending_.empty(); }

 private:
  void push_one(int32_t id, std::string& text);
  void stop_at(size_t stop_index, size_t text_bytes, std::string& text);  // text_bytes: of pending_, before the stop string

  const Tokenizer* tokenizer_;
  Options options_;
  StopMatcher matcher_;
  std::string pending_;  // bytes not handed out yet
  bool strip_space_;     // the next ordinary token's leading space was added by encode()
  size_t tokens_ = 0;
  std::optional<Stop> stop_;
};

}  // namespace outrider::text
