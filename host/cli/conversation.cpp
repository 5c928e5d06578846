#include "cli/conversation.hpp"

#include "base/log.hpp"

namespace outrider::cli {
namespace {

std::string special_piece(const text::Tokenizer& tokenizer, std::optional<int32_t> id) { return id ? tokenizer.piece(*id) : std::string(); }

// A byte without a token is lost to the model, so the person is told.
void warn_of_unknown_bytes(int count) {
  if (count > 0) log::warn("prompt: {} byte(s) have no token in this model's vocabulary; the model reads them as unknown", count);
}

}  // namespace

Json message(const std::string& role, const std::string& content) { return {{"role", role}, {"content", content}}; }

Result<bool> uses_template(const scheduler::Runtime& runtime, PromptForm form) {
  if (form == PromptForm::raw) return false;
  if (runtime.chat_template) return true;
  if (form == PromptForm::chat) {
    const std::string why = runtime.chat_template_problem.empty() ? "the model has none" : runtime.chat_template_problem;
    return Error{"chat template of " + runtime.model_name + ": " + why + "; use --raw"};
  }
  if (!runtime.chat_template_problem.empty()) {
    log::warn("chat template of {}: {}; the prompt goes to the model as it stands", runtime.model_name, runtime.chat_template_problem);
  }
  return false;
}

Result<std::vector<int32_t>> encode_messages(const scheduler::Runtime& runtime, const Json& messages, const Json& tools) {
  const text::Tokenizer& tokenizer = *runtime.tokenizer;
  const Json input = {{"messages", messages},
                      {"tools", tools},
                      {"add_generation_prompt", true},
                      {"bos_token", special_piece(tokenizer, tokenizer.bos())},
                      {"eos_token", special_piece(tokenizer, tokenizer.eos())}};
  Result<std::string> rendered = runtime.chat_template->render(input);
  if (!rendered.ok()) return rendered.error().within("chat template of " + runtime.model_name);
  int unknown_bytes = 0;
  std::vector<int32_t> ids = tokenizer.encode(*rendered, false, true, &unknown_bytes);  // the template has the last word on BOS
  warn_of_unknown_bytes(unknown_bytes);
  return ids;
}

std::vector<int32_t> encode_raw(const scheduler::Runtime& runtime, const std::string& text) {
  const text::Tokenizer& tokenizer = *runtime.tokenizer;
  int unknown_bytes = 0;
  std::vector<int32_t> ids = tokenizer.encode(text, true, true, &unknown_bytes);
  if (tokenizer.adds_eos() && !ids.empty() && ids.back() == *tokenizer.eos()) ids.pop_back();  // the text is to be continued
  warn_of_unknown_bytes(unknown_bytes);
  return ids;
}

Result<std::vector<int32_t>> encode_prompt(const scheduler::Runtime& runtime, PromptForm form, const std::string& system,
                                           const std::string& text) {
  OUTRIDER_TRY(const bool chat, uses_template(runtime, form));
  if (!chat) {
    if (!system.empty()) return Error{"--system: " + runtime.model_name + " is used without a chat template; put the text into the prompt"};
    return encode_raw(runtime, text);
  }
  Json messages = Json::array();
  if (!system.empty()) messages.push_back(message("system", system));
  messages.push_back(message("user", text));
  return encode_messages(runtime, messages, nullptr);
}

}  // namespace outrider::cli
