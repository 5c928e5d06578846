// What a command that runs the model goes through first: the configuration from files, environment and options, then the model, the
// engine and the drafters. A wrong configuration is a usage error (exit code 2), a model that cannot be opened a failure (1).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/load.hpp"
#include "config/runtime_context.hpp"
#include "scheduler/runtime.hpp"

namespace CLI {
class App;
}

namespace outrider::cli {

// --config, --set and the options of every namespace that a local command uses. `line` must live until the command has run.
void add_configuration_options(CLI::App& command, config::CommandLine& line);

// Where load_configuration() reads, for a command that reloads.
config::Sources configuration_sources(const config::CommandLine& line);

// The resolved configuration; the log level it names is in force from here on.
Result<std::shared_ptr<const config::ServerArgs>> load_configuration(const config::CommandLine& line);

// The same with one field set on behalf of `option`.
Result<std::shared_ptr<const config::ServerArgs>> with_option(const config::ServerArgs& args, const std::string& option,
                                                              const std::string& field, const config::FieldValue& value);

struct Session {
  config::RuntimeContext context;
  scheduler::Runtime runtime;
};

// Publishes the configuration and builds the runtime, which tells of refused drafters on standard error.
Result<std::unique_ptr<Session>> open_session(std::shared_ptr<const config::ServerArgs> args, const scheduler::RuntimeOptions& options);

// Submits a request and steps until it is finished; Ctrl-C cancels it, and its completions then say so.
Result<std::vector<scheduler::Completion>> run_request(scheduler::Engine& engine, scheduler::Request request);

// The exit code that completions ask for; an error among them is told on standard error.
int exit_code(const std::vector<scheduler::Completion>& completions);

}  // namespace outrider::cli
