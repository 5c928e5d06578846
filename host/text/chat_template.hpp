// A model's chat template: the Jinja text that its file carries, parsed once and rendered for each conversation, byte
// for byte as Python's transformers renders it (trim_blocks, lstrip_blocks, loop controls, sandbox). Promises that a
// construct it lacks is an error that names it with line and column, never silently different text, and that a hostile
// template ends within limits of steps, nesting and output. Does not read model files and does not tokenise what it
// renders.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.hpp"

namespace outrider::text {

namespace jinja {
struct Template;
}

class ChatTemplate {
 public:
  // Parses Jinja source. The error says "line L, column C: …" and names the construct that is malformed or not
  // supported.
  static Result<ChatTemplate> parse(std::string source);

  // Renders for `input`, a JSON object: `messages`, `tools`, `add_generation_prompt`, and any other member
  // (`bos_token`, `enable_thinking`, …) is a template variable; a member that is absent is undefined, as in Jinja
  // (falsy, prints as nothing). Errors: what the template itself raised (raise_exception), a type error as Python would
  // raise it, or an exceeded limit, each with line and column. Callable from any number of threads at once.
  Result<std::string> render(const nlohmann::ordered_json& input) const;

 private:
  explicit ChatTemplate(std::shared_ptr<const jinja::Template> parsed) : parsed_(std::move(parsed)) {}
  std::shared_ptr<const jinja::Template> parsed_;  // immutable after parse, so copies share it
};

}  // namespace outrider::text
