// From what a person wrote to the tokens that the model reads: through the model's chat template, or as it stands. Any bytes can be
// written; those that the vocabulary cannot express are warned of. Does not check lengths: the engine does, when a request arrives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/jsonl.hpp"
#include "scheduler/runtime.hpp"

namespace outrider::cli {

enum class PromptForm {
  automatic,  // chat where the model has a template, else raw
  chat,       // the template, or an error
  raw,        // the text alone
};

[[nodiscard]] Json message(const std::string& role, const std::string& content);

// Whether `form` means the chat template for this model. Error: chat is asked for and the model has no usable template.
Result<bool> uses_template(const scheduler::Runtime& runtime, PromptForm form);

// The tokens of a conversation (a list of {"role", "content"}) with the assistant's turn opened; `tools` may be null.
Result<std::vector<int32_t>> encode_messages(const scheduler::Runtime& runtime, const Json& messages, const Json& tools);

// The tokens of a text as it stands, with the vocabulary's own beginning-of-text token.
std::vector<int32_t> encode_raw(const scheduler::Runtime& runtime, const std::string& text);

// One turn: `text` as a user's message after the system text (when there is one), or raw.
Result<std::vector<int32_t>> encode_prompt(const scheduler::Runtime& runtime, PromptForm form, const std::string& system,
                                           const std::string& text);

}  // namespace outrider::cli
