#include "cli/prompt_options.hpp"

#include <CLI/CLI.hpp>

namespace outrider::cli {

void add_prompt_options(CLI::App& command, PromptOptions& options) {
  const std::string group = "Prompt";
  CLI::Option* chat = command.add_flag("--chat", options.chat, "Through the chat template (the default where the model has one)");
  CLI::Option* raw = command.add_flag("--raw", options.raw, "The text as it stands, to be continued");
  chat->group(group);
  raw->group(group)->excludes(chat);
  command.add_option("--system", options.system, "System text for the chat template")->group(group);
}

}  // namespace outrider::cli
