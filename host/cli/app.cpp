#include "cli/app.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"

namespace outrider::cli {
namespace {

constexpr const char* kAppFooter =
    "Examples:\n"
    "  outrider generate -p \"Why is the sky blue?\"\n"
    "  outrider chat --model smollm2-135m-instruct\n"
    "  outrider bench --questions questions.jsonl --drafters NAME --limit 24\n"
    "  outrider SUBCOMMAND --help\n"
    "\n"
    "Exit codes:\n"
    "  0    done as asked\n"
    "  1    an input could not be read or a request could not be answered\n"
    "  2    the command line or the configuration is wrong\n"
    "  3    speculative and plain output differ\n"
    "  130  stopped by Ctrl-C";

// CLI11 says what was wrong; the remedy is the same for every such error.
int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string where = app.get_name();
  for (auto commands = app.get_subcommands(); !commands.empty(); commands = commands.front()->get_subcommands()) {
    where += " " + commands.front()->get_name();
  }
  log::error("command line: {}; see {} --help", error.what(), where);
  return kUsage;
}

}  // namespace

int run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe shows as a failed write, at the end, with an exit code
  CLI::App app("Runs a language model with speculative decoding: a drafter proposes tokens, the model decides every one of them.",
               "outrider");
  app.set_version_flag("--version", std::string("outrider ") + OUTRIDER_VERSION);
  app.require_subcommand(1);
  app.footer(kAppFooter);
  Command chosen;
  add_generate(app, chosen);
  add_chat(app, chosen);
  add_bench(app, chosen);
  add_drafters(app, chosen);
  add_models(app, chosen);
  add_config(app, chosen);
  add_filters(app, chosen);
  add_score(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  }
  int code = kFailed;
  try {
    code = chosen();
  } catch (const std::exception& fault) {
    log::error("internal fault: {}; please report it with the command line", fault.what());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    log::error("standard output: could not be written; is the reader or the disk gone?");
    if (code == kOk) code = kFailed;
  }
  return code;
}

}  // namespace outrider::cli
