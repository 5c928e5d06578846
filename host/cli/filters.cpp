// The plain filters that need no weights: `tokenize`, `detokenize` and `render`, a JSON object a line in and out.

#include <CLI/CLI.hpp>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/input.hpp"
#include "cli/interrupt.hpp"
#include "cli/jsonl.hpp"
#include "cli/session.hpp"

namespace outrider::cli {
namespace {

constexpr const char* kTokenizeFooter =
    "A line {\"text\": \"Hello\"} gives {\"ids\": [19556]}. Special tokens in the text are recognised; no\n"
    "beginning-of-text token is added.\n"
    "A line that cannot be read gives {\"error\": …}, and the exit code is 1.\n"
    "Examples:\n"
    "  echo '{\"text\": \"Hello\"}' | outrider tokenize\n"
    "  outrider tokenize --model qwen2.5-coder-0.5b-instruct < texts.jsonl | outrider detokenize --model qwen2.5-coder-0.5b-instruct";

constexpr const char* kDetokenizeFooter =
    "A line {\"ids\": [19556]} gives {\"text\": \"Hello\"}. Special tokens show by name; half a character shows as U+FFFD.\n"
    "Example:\n"
    "  echo '{\"ids\": [19556, 905]}' | outrider detokenize";

constexpr const char* kRenderFooter =
    "A line has \"messages\", and may have \"tools\" and \"add_generation_prompt\"; any other member (bos_token, …) is a variable of the\n"
    "template, and nothing is added to them. It gives {\"text\": …}, or {\"error\": …} and exit code 1 at the end.\n"
    "Examples:\n"
    "  echo '{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"add_generation_prompt\": true}' | outrider render\n"
    "  outrider render --template template.jinja < conversations.jsonl";

struct FilterOptions {
  config::CommandLine configuration;
  std::string template_file;
};

// The model's tokenizer and template, without its weights.
Result<std::unique_ptr<Session>> open_text(const FilterOptions& options) {
  OUTRIDER_TRY(auto args, load_configuration(options.configuration));
  return open_session(args, {.drafters = {}, .engine = false});
}

Result<Json> tokenize_line(const text::Tokenizer& tokenizer, const Json& line) {
  OUTRIDER_TRY(const std::string text, member<std::string>(line, "text", "a string"));
  int unknown_bytes = 0;
  const std::vector<int32_t> ids = tokenizer.encode(text, false, true, &unknown_bytes);
  if (unknown_bytes > 0) log::warn("tokenize: {} byte(s) have no token in this vocabulary and become the unknown token", unknown_bytes);
  return Json{{"ids", ids}};
}

Result<Json> detokenize_line(const text::Tokenizer& tokenizer, const Json& line) {
  if (!line.contains("ids")) return Error{"member \"ids\": expected a list of token ids, found none"};
  OUTRIDER_TRY(const std::vector<int32_t> ids, token_list(line["ids"], "member \"ids\""));
  for (const int32_t id : ids) {
    if (id >= tokenizer.vocab_size()) {
      return Error{"member \"ids\": expected ids below " + std::to_string(tokenizer.vocab_size()) + ", found " + std::to_string(id)};
    }
  }
  return Json{{"text", tokenizer.decode(ids)}};
}

int with_tokenizer(const FilterOptions& options, Result<Json> (*filter)(const text::Tokenizer&, const Json&)) {
  const InterruptScope interrupts;
  auto args = load_configuration(options.configuration);
  if (!args.ok()) return fail(args.error(), kUsage);
  auto session = open_session(*args, {.drafters = {}, .engine = false});
  if (!session.ok()) return fail(session.error());
  const text::Tokenizer& tokenizer = *(*session)->runtime.tokenizer;
  return run_filter(std::cin, [&](const Json& line) { return filter(tokenizer, line); });
}

Result<text::ChatTemplate> find_template(const FilterOptions& options) {
  if (!options.template_file.empty()) {
    OUTRIDER_TRY(std::string source, read_all(options.template_file));
    auto parsed = text::ChatTemplate::parse(std::move(source));
    if (!parsed.ok()) return parsed.error().within(options.template_file);
    return parsed;
  }
  OUTRIDER_TRY(auto session, open_text(options));
  const scheduler::Runtime& runtime = session->runtime;
  if (runtime.chat_template) return *runtime.chat_template;
  const std::string why = runtime.chat_template_problem.empty() ? "has none" : runtime.chat_template_problem;
  return Error{"chat template of " + runtime.model_name + ": " + why + "; give one with --template FILE"};
}

int render(const FilterOptions& options) {
  const InterruptScope interrupts;
  Result<text::ChatTemplate> chat_template = find_template(options);
  if (!chat_template.ok()) return fail(chat_template.error());
  return run_filter(std::cin, [&](const Json& line) -> Result<Json> {
    OUTRIDER_TRY(std::string text, chat_template->render(line));
    return Json{{"text", std::move(text)}};
  });
}

CLI::App* add_filter(CLI::App& app, const char* name, const char* help, const char* footer, std::shared_ptr<FilterOptions> options,
                     Command& chosen, std::function<int(const FilterOptions&)> run) {
  CLI::App* command = app.add_subcommand(name, help);
  command->footer(footer);
  config::add_options(*command, options->configuration, {config::Namespace::model, config::Namespace::observability});
  command->callback([options, run, &chosen] { chosen = [options, run] { return run(*options); }; });
  return command;
}

}  // namespace

void add_filters(CLI::App& app, Command& chosen) {
  add_filter(app, "tokenize", "Texts to token ids, a JSON object a line", kTokenizeFooter, std::make_shared<FilterOptions>(), chosen,
             [](const FilterOptions& options) { return with_tokenizer(options, tokenize_line); });
  add_filter(app, "detokenize", "Token ids to text, a JSON object a line", kDetokenizeFooter, std::make_shared<FilterOptions>(), chosen,
             [](const FilterOptions& options) { return with_tokenizer(options, detokenize_line); });
  auto options = std::make_shared<FilterOptions>();
  add_filter(app, "render", "Conversations to prompts through a chat template, a JSON object a line", kRenderFooter, options, chosen,
             render)
      ->add_option("--template", options->template_file, "A template of your own in place of the model's");
}

}  // namespace outrider::cli
