// Cuts text into the words that byte-level BPE merges within. Each vocabulary was trained with one such cut, named by
// `tokenizer.ggml.pre`; another cut gives other ids, so an unknown name is an error and never a guess. The cuts are regular
// expressions, run by PCRE2 (just-in-time compiled where the machine allows it).
//
// Immutable once made; split() may be called from any thread, with one PreTokenizer::Scratch a thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace outrider::text {

class PreTokenizer {
 public:
  // What one call of split() works in.
  class Scratch {
   public:
    Scratch();
    Scratch(Scratch&&) noexcept;
    ~Scratch();

   private:
    friend class PreTokenizer;
    struct State;
    std::unique_ptr<State> state_;
  };

  // Errors: a name that is not known; the message lists those that are. `allow_jit` is for tests of the interpreter.
  static Result<PreTokenizer> create(const std::string& name, bool allow_jit = true);
  PreTokenizer(PreTokenizer&&) noexcept;
  PreTokenizer& operator=(PreTokenizer&&) noexcept;
  ~PreTokenizer();

  // Appends the words of `text`, which is valid UTF-8, to `words`: together, and in order, they are the whole text.
  void split(std::string_view text, Scratch& scratch, std::vector<std::string_view>& words) const;

  // A word that is a token as a whole is that token, whatever the merges say (the llama-3 family).
  [[nodiscard]] bool ignores_merges() const { return ignores_merges_; }

  // Whether a vocabulary with this pre-tokenizer starts a text with BOS when its file does not say; false for an unknown name.
  static bool adds_bos_by_default(const std::string& name);

 private:
  struct Pass;
  PreTokenizer();
  void split_pass(const Pass& pass, std::string_view text, Scratch& scratch, std::vector<std::string_view>& words) const;

  std::vector<Pass> passes_;  // each cuts the words of the one before it further
  bool ignores_merges_ = false;
};

}  // namespace outrider::text
