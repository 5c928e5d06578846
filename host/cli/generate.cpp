#include "cli/generate.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/completion_json.hpp"
#include "cli/exit_code.hpp"
#include "cli/input.hpp"
#include "cli/interrupt.hpp"
#include "cli/summary.hpp"
#include "cli/terminal.hpp"

namespace outrider::cli {
namespace {

constexpr const char* kGenerateFooter =
    "Examples:\n"
    "  outrider generate -p \"Why is the sky blue?\"\n"
    "  outrider generate --drafter NAME --compare-plain --file article.txt\n"
    "  outrider generate --raw --temp 0.8 --seed 7 -n 64 \"Once upon a time\"\n"
    "  cat question.txt | outrider generate --json\n"
    "  outrider generate --jsonl prompts.jsonl --parallel 8 > answers.jsonl --json\n"
    "\n"
    "A line of --jsonl is {\"prompt\": …} or {\"messages\": […]}, with sampling parameters of its own where it has them\n"
    "(max_tokens, temperature, top_k, top_p, min_p, seed, stop, drafter, …). The answer goes to standard output; the summary\n"
    "to standard error, or after the answer with --compare-plain.";

// The prompt: --prompt, --file, or what is piped in.
Result<std::string> prompt_text(const GenerateOptions& options) {
  if (options.text_given) return options.text;
  if (!options.file.empty()) return read_all(options.file);
  return read_all("-");
}

// Streams the answer to standard output as it comes, for a single completion; several are printed one after another at the end.
void print_completions(const std::vector<scheduler::Completion>& completions) {
  for (size_t i = 0; i < completions.size(); ++i) {
    print("--- " + std::to_string(i + 1) + " of " + std::to_string(completions.size()) + "\n" + completions[i].text + "\n");
  }
}

Json compared(Json json, const scheduler::Completion& completion, const scheduler::Completion& plain) {
  const double rate = plain.timing.decode_tokens_per_second();
  json["plain"] = {{"decode_tokens_per_second", rate},
                   {"ratio", rate > 0 ? Json(completion.timing.decode_tokens_per_second() / rate) : Json(nullptr)},
                   {"identical", identical({completion}, {plain})}};
  return json;
}

int generate(const GenerateOptions& options) {
  if (!options.jsonl.empty()) return generate_many(options);
  if (!options.text_given && options.file.empty() && is_terminal(STDIN_FILENO)) {
    return fail(Error{"command line: no prompt; give one with -p, --file or --jsonl, or pipe one in"}, kUsage);
  }
  const InterruptScope interrupts;
  Result<verify::SamplingParams> sampling = sampling_params(options.sampling);
  if (!sampling.ok()) return fail(sampling.error(), kUsage);
  Result<std::string> text = prompt_text(options);
  if (!text.ok()) return fail(text.error(), interrupted() ? kInterrupted : kFailed);
  auto args = load_configuration(options.configuration);
  if (!args.ok()) return fail(args.error(), kUsage);
  auto session = open_session(*args, {});
  if (!session.ok()) return fail(session.error());
  const scheduler::Runtime& runtime = (*session)->runtime;

  Result<std::vector<int32_t>> prompt = encode_prompt(runtime, options.prompt.form(), options.prompt.system, *text);
  if (!prompt.ok()) return fail(prompt.error());
  const bool stream = !options.json && sampling->n == 1;
  scheduler::Request request{.prompt = *std::move(prompt), .sampling = *sampling, .drafter = {}, .on_output = {}, .on_logits = {}};
  scheduler::Request again = request;
  again.drafter = "none";
  if (stream) request.on_output = [](const scheduler::StreamEvent& event) { print(std::string(event.text)); };

  auto completions = run_request(*runtime.engine, std::move(request));
  if (!completions.ok()) return fail(completions.error());
  if (stream) print("\n");
  if (!options.json && !stream) print_completions(*completions);
  int code = exit_code(*completions);

  std::vector<scheduler::Completion> plain;
  if (options.compare_plain && code == kOk) {
    auto result = run_request(*runtime.engine, std::move(again));
    if (!result.ok()) return fail(result.error());
    plain = *std::move(result);
    code = exit_code(plain);
    if (code == kOk && !identical(*completions, plain)) code = kDiffers;
  }
  if (options.json) {
    for (size_t i = 0; i < completions->size(); ++i) {
      Json json = completion_json(runtime, (*completions)[i]);
      if (completions->size() > 1) json["index"] = i;
      print(to_line(i < plain.size() ? compared(std::move(json), (*completions)[i], plain[i]) : json) + "\n");
    }
  } else if (options.compare_plain) {
    print("\n" + summary(runtime, *completions, plain));
  } else if (!options.quiet) {
    std::fputs(("\n" + summary(runtime, *completions, {})).c_str(), stderr);
  }
  return code;
}

}  // namespace

void add_generate(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = app.add_subcommand("generate", "Answer a prompt, or a file of prompts");
  command->footer(kGenerateFooter);
  CLI::Option* text = command->add_option("-p,--prompt,prompt", options->text, "The prompt; standard input when none is given");
  CLI::Option* file = command->add_option("-f,--file", options->file, "Read the prompt from a file; - is standard input")->excludes(text);
  command->add_option("--jsonl", options->jsonl, "Answer each line of a file; - is standard input")->excludes(text)->excludes(file);
  command->add_option("--parallel", options->parallel, "Requests answered at the same time, with --jsonl")
      ->check(CLI::Range(1, 1024))->capture_default_str();
  command->add_flag("--json", options->json, "Print a JSON object a completion");
  command->add_flag("--compare-plain", options->compare_plain, "Run the same prompt without the drafter too, and compare");
  command->add_flag("-q,--quiet", options->quiet, "No summary");
  add_prompt_options(*command, options->prompt);
  add_sampling_options(*command, options->sampling, 256);
  command->add_option("--n", options->sampling.params.n, "Completions of the prompt")->capture_default_str()->group("Sampling");
  add_configuration_options(*command, options->configuration);
  command->callback([options, text, &chosen] {
    options->text_given = text->count() > 0;
    chosen = [options] { return generate(*options); };
  });
}

}  // namespace outrider::cli
