#include "cli/session.hpp"

#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"

namespace outrider::cli {

void add_configuration_options(CLI::App& command, config::CommandLine& line) {
  using config::Namespace;
  config::add_options(command, line,
                      {Namespace::device, Namespace::model, Namespace::schedule, Namespace::memory, Namespace::spec,
                       Namespace::observability});
}

config::Sources configuration_sources(const config::CommandLine& line) {
  return {.command_line = line, .environment = config::process_environment()};
}

Result<std::shared_ptr<const config::ServerArgs>> load_configuration(const config::CommandLine& line) {
  OUTRIDER_TRY(config::ServerArgs args, config::load(configuration_sources(line)));
  log::set_level(args.values().observability.log_level);
  return std::make_shared<const config::ServerArgs>(std::move(args));
}

Result<std::shared_ptr<const config::ServerArgs>> with_option(const config::ServerArgs& args, const std::string& option,
                                                              const std::string& field, const config::FieldValue& value) {
  const config::Origin origin{.kind = config::Origin::Kind::option, .where = option};
  OUTRIDER_TRY(config::ServerArgs derived, args.derive({{origin, field, value}}));
  return std::make_shared<const config::ServerArgs>(std::move(derived));
}

Result<std::unique_ptr<Session>> open_session(std::shared_ptr<const config::ServerArgs> args, const scheduler::RuntimeOptions& options) {
  auto session = std::make_unique<Session>();
  OUTRIDER_CHECK(session->context.publish(std::move(args), config::Role::launcher));
  OUTRIDER_TRY(session->runtime, scheduler::make_runtime(session->context, options));
  return session;
}

Result<std::vector<scheduler::Completion>> run_request(scheduler::Engine& engine, scheduler::Request request) {
  OUTRIDER_TRY(const uint64_t id, engine.submit(std::move(request)));
  while (!engine.finished(id)) {
    if (interrupted()) engine.cancel(id);
    if (!engine.step() && !engine.finished(id)) return Error{"engine: a request was left unfinished with nothing to do; please report it"};
  }
  return engine.take(id);
}

int exit_code(const std::vector<scheduler::Completion>& completions) {
  int code = kOk;
  for (const scheduler::Completion& completion : completions) {
    if (completion.finish_reason == scheduler::FinishReason::error) code = fail(Error{"request: " + completion.error});
    if (completion.finish_reason == scheduler::FinishReason::cancelled && code == kOk) code = kInterrupted;
  }
  return code;
}

}  // namespace outrider::cli
