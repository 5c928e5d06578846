#include "drafting/draft_runner.hpp"

#include "base/log.hpp"

namespace outrider::drafting {
namespace {

config::DraftRunnerOptions options_of(const outrider_draft_runner_options* options) {
  config::DraftRunnerOptions result;
  using Options = outrider_draft_runner_options;
  if (OUTRIDER_HAS(Options, options, attention_backend)) result.attention_backend = options->attention_backend;
  if (OUTRIDER_HAS(Options, options, supported)) {
    for (uint32_t i = 0; i < options->supported_count; ++i) {
      if (options->supported[i] != nullptr) result.supported.emplace_back(options->supported[i]);
    }
  }
  if (OUTRIDER_HAS(Options, options, fallback)) result.fallback = options->fallback;
  return result;
}

}  // namespace

DraftRunnerWindow::DraftRunnerWindow(config::RuntimeContext& context, HostServices& services, const outrider_config& worker,
                                     config::DraftTarget target)
    : context_(context), services_(services), worker_(worker), target_(target) {
  services_.set_runner(this);
}

DraftRunnerWindow::~DraftRunnerWindow() { services_.set_runner(nullptr); }

outrider_status DraftRunnerWindow::open(const outrider_draft_runner_options* options, const outrider_config** config) {
  if (std::this_thread::get_id() != thread_ || scope_ != nullptr) return OUTRIDER_E_STATE;
  auto copy = config::draft_runner_args(context_, target_, options_of(options));
  if (!copy) {
    log::warn("[{}] {}", services_.plugin(), copy.error().message);
    return OUTRIDER_E_CONFIG;
  }
  const outrider_config& second = services_.keep({*copy, worker_.options});
  scope_.reset(new config::ContextScope(context_.preserve_config()));
  if (auto published = context_.publish(*std::move(copy), config::Role::draft); !published) {
    scope_.reset();
    log::warn("[{}] {}", services_.plugin(), published.error().message);
    return OUTRIDER_E_CONFIG;
  }
  *config = &second;
  return OUTRIDER_OK;
}

outrider_status DraftRunnerWindow::close() {
  if (std::this_thread::get_id() != thread_ || scope_ == nullptr) return OUTRIDER_E_STATE;
  scope_.reset();
  return OUTRIDER_OK;
}

}  // namespace outrider::drafting
