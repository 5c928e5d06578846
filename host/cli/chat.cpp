// `outrider chat`: a conversation on the terminal. Ctrl-C stops the answer, not the program; Ctrl-D ends it; SIGHUP reloads
// the configuration. With standard input piped it answers each line, which is how it is tested.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/completion_json.hpp"
#include "cli/conversation.hpp"
#include "cli/exit_code.hpp"
#include "cli/hangup.hpp"
#include "cli/interrupt.hpp"
#include "cli/sampling_options.hpp"
#include "cli/session.hpp"
#include "cli/terminal.hpp"

namespace outrider::cli {
namespace {

constexpr const char* kChatFooter =
    "Examples:\n"
    "  outrider chat\n"
    "  outrider chat --model qwen2.5-coder-0.5b-instruct --drafter NAME --temp 0.7\n"
    "  printf 'Hello\\nAnd again\\n' | outrider chat --system \"Answer in one sentence.\"";

constexpr const char* kHelp =
    "/reset           forget the conversation\n"
    "/system TEXT     set the system text and forget the conversation; without TEXT: none\n"
    "/drafter NAME    use another drafter from the next answer on; none: plain decoding; without NAME: list them\n"
    "/help            this list\n"
    "Ctrl-C stops an answer, Ctrl-D ends the program; SIGHUP reads the --config files again.\n";

struct ChatOptions {
  config::CommandLine configuration;
  SamplingOptions sampling;
  std::string system;
  std::vector<std::string> drafters;
};

// Lines from a descriptor, so that Ctrl-C while waiting is seen (a C++ stream would go on waiting).
class LineReader {
 public:
  enum class Outcome { line, interrupted, end };

  Outcome next(std::string& line) {
    while (true) {
      if (const size_t newline = buffer_.find('\n'); newline != std::string::npos) {
        line = buffer_.substr(0, newline);
        buffer_.erase(0, newline + 1);
        return Outcome::line;
      }
      if (!wait_for_input(STDIN_FILENO)) return Outcome::interrupted;
      char piece[4096];
      const ssize_t n = read(STDIN_FILENO, piece, sizeof piece);
      if (n > 0) {
        buffer_.append(piece, static_cast<size_t>(n));
      } else if (n == 0 || errno != EINTR) {
        line = std::exchange(buffer_, {});  // a last line may lack its newline
        return line.empty() ? Outcome::end : Outcome::line;
      }
    }
  }

 private:
  std::string buffer_;
};

class Chat {
 public:
  Chat(const scheduler::Runtime& runtime, verify::SamplingParams sampling, std::string system)
      : runtime_(runtime), sampling_(std::move(sampling)), interactive_(is_terminal(STDIN_FILENO)) {
    reset(std::move(system));
  }

  // Until the input ends. kFailed when any answer failed.
  int run() {
    if (interactive_) note(runtime_.model_name + ". /help lists the commands; Ctrl-D ends.");
    LineReader reader;
    for (std::string line;;) {
      if (interactive_) print("> ");
      const LineReader::Outcome outcome = reader.next(line);
      if (outcome == LineReader::Outcome::end) break;
      if (outcome == LineReader::Outcome::interrupted) {
        clear_interrupt();
        note("\n(Ctrl-D ends)");
        continue;
      }
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.rfind('/', 0) == 0) {
        command(line);
      } else if (!line.empty()) {
        answer(line);
      }
    }
    if (interactive_) print("\n");
    return code_;
  }

 private:
  void note(const std::string& text) { std::fputs((text + "\n").c_str(), stderr); }

  void failed(const Error& error) { code_ = fail(error); }

  void reset(std::string system) {
    system_ = std::move(system);
    messages_ = Json::array();
    if (!system_.empty()) messages_.push_back(message("system", system_));
  }

  void command(const std::string& line) {
    const size_t space = line.find(' ');
    const std::string name = line.substr(0, space);
    const std::string argument = space == std::string::npos ? std::string() : line.substr(space + 1);
    if (name == "/reset") {
      reset(system_);
      note("(the conversation is forgotten)");
    } else if (name == "/system") {
      reset(argument);
      note("(system text set, the conversation is forgotten)");
    } else if (name == "/drafter") {
      choose_drafter(argument);
    } else if (name == "/help") {
      std::fputs(kHelp, stderr);
    } else {
      failed(Error{"chat: there is no command " + name + "; /help lists them"});
    }
  }

  void choose_drafter(const std::string& name) {
    std::string known = "none";
    bool found = name == "none";
    for (const drafting::DrafterReport& report : runtime_.engine->drafter_reports()) {
      known += ", " + report.name;
      found = found || report.name == name;
    }
    if (name.empty()) return note("(loaded: " + known + ")");
    if (!found) return failed(Error{"chat: drafter '" + name + "' is not loaded (there is " + known + "); start with --drafters " + name});
    drafter_ = name;
    note("(drafter: " + name + ")");
  }

  void answer(const std::string& line) {
    messages_.push_back(message("user", line));
    Result<std::vector<int32_t>> prompt = encode_messages(runtime_, messages_, nullptr);
    if (!prompt.ok()) return give_up(prompt.error());
    scheduler::Request request{.prompt = *std::move(prompt), .sampling = sampling_, .drafter = drafter_, .on_output = {}, .on_logits = {}};
    request.on_output = [](const scheduler::StreamEvent& event) { print(std::string(event.text)); };
    auto completions = run_request(*runtime_.engine, std::move(request));
    if (!completions.ok()) return give_up(completions.error());
    const scheduler::Completion& completion = completions->front();
    print("\n");
    if (completion.finish_reason == scheduler::FinishReason::error) return give_up(Error{"request: " + completion.error});
    if (completion.finish_reason == scheduler::FinishReason::cancelled) {
      clear_interrupt();
      note("(stopped)");
    }
    messages_.push_back(message("assistant", completion.text));  // a stopped answer is part of what was said
    if (interactive_) statistics(completion);
  }

  // The message that could not be answered is taken back, so that the next one starts from what the model has seen.
  void give_up(const Error& error) {
    messages_.erase(messages_.size() - 1);
    failed(error);
  }

  void statistics(const scheduler::Completion& completion) {
    char text[160];
    std::snprintf(text, sizeof text, "[%zu tokens, %.1f tokens/s, acceptance length %.2f, drafter %s]", completion.token_ids.size(),
                  completion.timing.decode_tokens_per_second(), completion.speculation.acceptance_length(), completion.drafter.c_str());
    note(is_terminal(STDERR_FILENO) ? std::string("\033[2m") + text + "\033[0m" : text);
  }

  const scheduler::Runtime& runtime_;
  verify::SamplingParams sampling_;
  bool interactive_;
  std::string system_;
  std::string drafter_;  // "" is the engine's default
  Json messages_;
  int code_ = kOk;
};

int chat(const ChatOptions& options) {
  const HangupHold hangups;
  Result<verify::SamplingParams> sampling = sampling_params(options.sampling);
  if (!sampling.ok()) return fail(sampling.error(), kUsage);
  auto args = load_configuration(options.configuration);
  if (!args.ok()) return fail(args.error(), kUsage);
  auto session = open_session(*args, {.drafters = options.drafters, .engine = true});
  if (!session.ok()) return fail(session.error());
  const scheduler::Runtime& runtime = (*session)->runtime;
  if (const Result<bool> usable = uses_template(runtime, PromptForm::chat); !usable.ok()) {
    return fail(Error{usable.error().message + " with outrider generate, or give a template with --chat-template FILE"});
  }
  const InterruptScope interrupts;  // from here on; Ctrl-C while the model loads ends the program
  const ReloadOnHangup reloads(hangups, (*session)->context, configuration_sources(options.configuration));
  return Chat(runtime, *std::move(sampling), options.system).run();
}

}  // namespace

void add_chat(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ChatOptions>();
  CLI::App* command = app.add_subcommand("chat", "Talk with the model on the terminal");
  command->footer(std::string(kChatFooter) + "\n\nIn a conversation:\n" + kHelp);
  command->add_option("--system", options->system, "System text")->group("Prompt");
  command->add_option("--drafters", options->drafters, "Drafters to load besides --drafter, for /drafter NAME")
      ->delimiter(',')->expected(1)->take_all();
  add_sampling_options(*command, options->sampling, 1024);
  add_configuration_options(*command, options->configuration);
  command->callback([options, &chosen] { chosen = [options] { return chat(*options); }; });
}

}  // namespace outrider::cli
