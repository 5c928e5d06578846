// The subcommands. Each add_… function declares one subcommand's options and examples on `app`, and, when the user chose it, puts
// what is to be run into `chosen`. Nothing runs while the command line is being parsed.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace outrider::cli {

using Command = std::function<int()>;  // returns an ExitCode

void add_generate(CLI::App& app, Command& chosen);
void add_chat(CLI::App& app, Command& chosen);
void add_bench(CLI::App& app, Command& chosen);
void add_bench_kernels(CLI::App& bench, Command& chosen);  // `bench kernels`
void add_drafters(CLI::App& app, Command& chosen);
void add_models(CLI::App& app, Command& chosen);
void add_config(CLI::App& app, Command& chosen);
void add_filters(CLI::App& app, Command& chosen);  // tokenize, detokenize, render
void add_score(CLI::App& app, Command& chosen);

}  // namespace outrider::cli
