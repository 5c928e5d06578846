// How a prompt becomes what the model reads, as options: --chat, --raw, --system. conversation.hpp does what they say.
#pragma once

#include <string>

#include "cli/conversation.hpp"

namespace CLI {
class App;
}

namespace outrider::cli {

struct PromptOptions {
  bool chat = false, raw = false;
  std::string system;
  [[nodiscard]] PromptForm form() const { return chat ? PromptForm::chat : raw ? PromptForm::raw : PromptForm::automatic; }
};

void add_prompt_options(CLI::App& command, PromptOptions& options);

}  // namespace outrider::cli
