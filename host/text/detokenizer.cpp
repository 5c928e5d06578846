#include "text/detokenizer.hpp"

#include <algorithm>
#include <utility>

#include "text/utf8.hpp"

namespace outrider::text {

StopMatcher::StopMatcher(std::vector<std::string> stop_strings) : strings_(std::move(stop_strings)) {
  matched_.assign(strings_.size(), 0);
  for (const std::string& stop : strings_) {
    // fallback[n]: of the first n bytes, the longest proper end that is a beginning too.
    std::vector<uint32_t> fallback(stop.size() + 1, 0);
    for (size_t n = 1; n < stop.size(); ++n) {
      uint32_t length = fallback[n];
      while (length > 0 && stop[length] != stop[n]) length = fallback[length];
      fallback[n + 1] = stop[length] == stop[n] ? length + 1 : 0;
    }
    fallback_.push_back(std::move(fallback));
  }
}

std::optional<size_t> StopMatcher::push(char byte) {
  std::optional<size_t> completed;
  held_ = 0;
  for (size_t i = 0; i < strings_.size(); ++i) {
    const std::string& stop = strings_[i];
    if (stop.empty()) continue;
    uint32_t& matched = matched_[i];
    while (matched > 0 && (matched == stop.size() || stop[matched] != byte)) matched = fallback_[i][matched];
    if (stop[matched] == byte) ++matched;
    held_ = std::max<size_t>(held_, matched);
    if (matched == stop.size() && (!completed || stop.size() > strings_[*completed].size())) completed = i;
  }
  return completed;
}

DetokenizerStream::DetokenizerStream(const Tokenizer& tokenizer, std::vector<std::string> stop_strings)
    : DetokenizerStream(tokenizer, Options{std::move(stop_strings)}) {}

DetokenizerStream::DetokenizerStream(const Tokenizer& tokenizer, Options options)
    : tokenizer_(&tokenizer),
      options_(std::move(options)),
      matcher_(options_.stop_strings),
      strip_space_(options_.text_start && tokenizer.adds_space_prefix()) {}

std::string DetokenizerStream::push(int32_t id) {
  std::string text;
  push_all({&id, 1}, text);
  return text;
}

size_t DetokenizerStream::push_all(std::span<const int32_t> ids, std::string& text) {
  if (stopped()) return 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    push_one(ids[i], text);
    if (stopped()) return i + 1;
  }
  return ids.size();
}

void DetokenizerStream::push_one(int32_t id, std::string& text) {
  ++tokens_;
  bool strip_space = strip_space_;
  const std::string_view bytes = tokenizer_->decode_step(id, &strip_space);
  if (options_.text_start) strip_space_ = strip_space;  // inside a text every space is the model's own
  if (tokenizer_->is_special(id) && !options_.show_special) {
    // Not text, but someone who names it as a stop string means it.
    const auto stop = std::find(options_.stop_strings.begin(), options_.stop_strings.end(), bytes);
    if (stop != options_.stop_strings.end() && !bytes.empty()) {
      const size_t text_bytes = pending_.size();
      pending_ += bytes;
      stop_at(static_cast<size_t>(stop - options_.stop_strings.begin()), text_bytes, text);
    }
    return;
  }
  for (const char byte : bytes) {
    pending_.push_back(byte);
    if (const auto completed = matcher_.push(byte)) {
      stop_at(*completed, pending_.size() - options_.stop_strings[*completed].size(), text);
      return;
    }
  }
  const std::string_view certain = std::string_view(pending_).substr(0, pending_.size() - matcher_.held());
  pending_.erase(0, append_valid_utf8(text, certain, false));
}

void DetokenizerStream::stop_at(size_t stop_index, size_t text_bytes, std::string& text) {
  stop_ = Stop{tokens_, stop_index};
  append_valid_utf8(text, std::string_view(pending_).substr(0, options_.include_stop ? pending_.size() : text_bytes), true);
  pending_.clear();
}

std::string DetokenizerStream::finish() {
  std::string text = to_valid_utf8(pending_);
  pending_.clear();
  return text;
}

}  // namespace outrider::text
