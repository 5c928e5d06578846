#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>

#include "text/pre_tokenizer.hpp"

namespace outrider::text {

namespace {

// Space is written out as Unicode's White_Space property, since PCRE2's own \s also takes U+180E. Quantifiers at the end of an
// alternative are possessive (`++`): nothing after them could make the matcher give a character back, and so a word of any
// length needs no memory for doing so.
#define SPACE R"(\p{Z}\t-\r\x{85})"
#define GPT2_WORDS                                                                          \
  R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}++| ?\p{N}++| ?[^)" SPACE R"(\p{L}\p{N}]++|)"           \
  "[" SPACE "]+(?![^" SPACE "])|[" SPACE "]++"
#define CONTRACTIONS R"('[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]|)"
#define SPACES "[" SPACE R"(]*[\r\n]++|[)" SPACE "]+(?![^" SPACE "])|[" SPACE "]++"
#define LETTERS_AND R"([^\r\n\p{L}\p{N}]?\p{L}++|)"
#define PUNCTUATION " ?[^" SPACE R"(\p{L}\p{N}]++[\r\n]*+|)"

constexpr const char* kDigit = R"(\p{N})";
constexpr const char* kGpt2 = GPT2_WORDS;
constexpr const char* kLlama3 = CONTRACTIONS LETTERS_AND R"(\p{N}{1,3}+|)" PUNCTUATION SPACES;
constexpr const char* kQwen2 = CONTRACTIONS LETTERS_AND R"(\p{N}|)" PUNCTUATION SPACES;
constexpr const char* kQwen35 = CONTRACTIONS R"([^\r\n\p{L}\p{N}]?[\p{L}\p{M}]++|\p{N}| ?[^)" SPACE
                                             R"(\p{L}\p{M}\p{N}]++[\r\n]*+|)" SPACES;

#undef SPACE
#undef GPT2_WORDS
#undef CONTRACTIONS
#undef SPACES
#undef LETTERS_AND
#undef PUNCTUATION

struct Cut {
  std::array<const char*, 2> passes;  // nullptr: none
  bool llama3 = false;                // ignores merges, starts with BOS
};

struct Name {
  const char* name;
  Cut cut;
};

constexpr Cut kSmollmCut{{kDigit, kGpt2}};  // every digit alone, then the words between them
constexpr Cut kGpt2Cut{{kGpt2, nullptr}};
constexpr Cut kLlama3Cut{{kLlama3, nullptr}, true};
constexpr Cut kQwen2Cut{{kQwen2, nullptr}};
constexpr Cut kQwen35Cut{{kQwen35, nullptr}};

constexpr Name kNames[] = {
    {"gpt-2", kGpt2Cut},
    {"smollm", kSmollmCut},
    {"starcoder", kSmollmCut},
    {"refact", kSmollmCut},
    {"command-r", kSmollmCut},
    {"codeshell", kSmollmCut},
    {"exaone", kSmollmCut},
    {"minerva", kSmollmCut},
    {"minerva-7b", kSmollmCut},
    {"llama-bpe", kLlama3Cut},
    {"llama3", kLlama3Cut},
    {"llama-v3", kLlama3Cut},
    {"qwen2", kQwen2Cut},
    {"stablelm2", kQwen2Cut},
    {"hunyuan", kQwen2Cut},
    {"deepseek-r1-qwen", kQwen2Cut},
    {"qwen35", kQwen35Cut},
};

const Name* find_name(const std::string& name) {
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames), [&](const Name& n) { return n.name == name; });
  return found == std::end(kNames) ? nullptr : found;
}

std::string pcre2_message(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

struct FreeCode {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeMatch {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
struct FreeContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

}  // namespace

struct PreTokenizer::Pass {
  std::unique_ptr<pcre2_code, FreeCode> code;
  bool jit = false;
};

struct PreTokenizer::Scratch::State {
  std::unique_ptr<pcre2_match_data, FreeMatch> match;
  std::unique_ptr<pcre2_match_context, FreeContext> context;
  std::vector<std::string_view> fragments;
};

PreTokenizer::Scratch::Scratch() : state_(std::make_unique<State>()) {
  state_->match.reset(pcre2_match_data_create(1, nullptr));
  state_->context.reset(pcre2_match_context_create(nullptr));
  if (!state_->match || !state_->context) throw std::bad_alloc();
  // The library's limits guard against patterns from strangers. Ours are fixed and linear in the text, whatever its length.
  pcre2_set_match_limit(state_->context.get(), UINT32_MAX);
  pcre2_set_depth_limit(state_->context.get(), UINT32_MAX);
  pcre2_set_heap_limit(state_->context.get(), UINT32_MAX);
}
PreTokenizer::Scratch::Scratch(Scratch&&) noexcept = default;
PreTokenizer::Scratch::~Scratch() = default;

PreTokenizer::PreTokenizer() = default;
PreTokenizer::PreTokenizer(PreTokenizer&&) noexcept = default;
PreTokenizer& PreTokenizer::operator=(PreTokenizer&&) noexcept = default;
PreTokenizer::~PreTokenizer() = default;

Result<PreTokenizer> PreTokenizer::create(const std::string& name, bool allow_jit) {
  const Name* found = find_name(name);
  if (found == nullptr) {
    std::string known;
    for (const Name& n : kNames) known += (known.empty() ? "" : ", ") + std::string(n.name);
    const std::string what = name.empty() ? "none" : "\"" + name + "\"";
    return Error{"tokenizer.ggml.pre: expected one of " + known + "; found " + what +
                 "; convert the model again with a current converter, or use a model with one of these pre-tokenizers"};
  }
  PreTokenizer result;
  result.ignores_merges_ = found->cut.llama3;
  for (const char* pattern : found->cut.passes) {
    if (pattern == nullptr) continue;
    int error = 0;
    PCRE2_SIZE offset = 0;
    Pass pass;
    pass.code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern), PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP,
                                  &error, &offset, nullptr));
    if (!pass.code) {
      return Error{"pre-tokenizer " + name + ": this PCRE2 does not accept its pattern at character " + std::to_string(offset) +
                   " (" + pcre2_message(error) + "); build with PCRE2 10.34 or newer, with Unicode"};
    }
    // Without a just-in-time compiler (a processor PCRE2 does not know, a kernel that forbids it) the interpreter does the work.
    pass.jit = allow_jit && pcre2_jit_compile(pass.code.get(), PCRE2_JIT_COMPLETE) == 0;
    result.passes_.push_back(std::move(pass));
  }
  return result;
}

bool PreTokenizer::adds_bos_by_default(const std::string& name) {
  const Name* found = find_name(name);
  return found != nullptr && found->cut.llama3;
}

void PreTokenizer::split(std::string_view text, Scratch& scratch, std::vector<std::string_view>& words) const {
  const size_t before = words.size();
  split_pass(passes_.front(), text, scratch, words);
  for (size_t pass = 1; pass < passes_.size(); ++pass) {
    auto& fragments = scratch.state_->fragments;
    fragments.assign(words.begin() + static_cast<std::ptrdiff_t>(before), words.end());
    words.resize(before);
    // Each fragment is a text of its own: what stands beyond its end is not seen by the look-ahead for a space.
    for (const std::string_view fragment : fragments) split_pass(passes_[pass], fragment, scratch, words);
  }
}

void PreTokenizer::split_pass(const Pass& pass, std::string_view text, Scratch& scratch,
                              std::vector<std::string_view>& words) const {
  const auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  pcre2_match_data* match = scratch.state_->match.get();
  pcre2_match_context* context = scratch.state_->context.get();
  const PCRE2_SIZE* span = pcre2_get_ovector_pointer(match);
  size_t at = 0;
  while (at < text.size()) {
    int found = PCRE2_ERROR_JIT_STACKLIMIT;
    if (pass.jit) found = pcre2_jit_match(pass.code.get(), subject, text.size(), at, 0, match, context);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
      // The interpreter takes its memory from the heap and so has no such limit.
      found = pcre2_match(pass.code.get(), subject, text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, match, context);
    }
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found == PCRE2_ERROR_NOMEMORY) throw std::bad_alloc();
    if (found < 0) throw std::logic_error("pre-tokenizer: PCRE2 failed: " + pcre2_message(found));
    if (span[0] > at) words.push_back(text.substr(at, span[0] - at));  // what lies between two matches is a word too
    words.push_back(text.substr(span[0], span[1] - span[0]));
    at = span[1];
  }
  if (at < text.size()) words.push_back(text.substr(at));
}

}  // namespace outrider::text
