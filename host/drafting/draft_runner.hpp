// The nested window of a worker that builds a model runner inside itself (outrider/draft_runner.h). Lives while that worker is being built,
// and closes what the worker left open.
#pragma once

#include <memory>
#include <thread>

#include "config/draft_copy.hpp"
#include "config/runtime_context.hpp"
#include "drafting/host_services.hpp"

namespace outrider::drafting {

class DraftRunnerWindow {
 public:
  // The worker's own window is open in this thread; `worker` is the copy published in it. Registers itself with `services` until it ends.
  DraftRunnerWindow(config::RuntimeContext& context, HostServices& services, const outrider_config& worker, config::DraftTarget target);
  ~DraftRunnerWindow();
  DraftRunnerWindow(const DraftRunnerWindow&) = delete;
  DraftRunnerWindow& operator=(const DraftRunnerWindow&) = delete;

  outrider_status open(const outrider_draft_runner_options* options, const outrider_config** config);
  outrider_status close();

 private:
  config::RuntimeContext& context_;
  HostServices& services_;
  const outrider_config& worker_;
  config::DraftTarget target_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::unique_ptr<config::ContextScope> scope_;
};

}  // namespace outrider::drafting
