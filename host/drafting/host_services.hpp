// The host as a plugin sees it (outrider/host.h): versions and the services log, memory, clock, config and draft_runner. Every function
// given to a plugin is noexcept and checks what it is given.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "config/runtime_context.hpp"
#include "outrider/plugin.h"

// What stands behind a plugin's `const outrider_config*`: the draft copy and the plugin's own options. One object for factory and worker.
struct outrider_config {
  std::shared_ptr<const outrider::config::ServerArgs> args;
  std::map<std::string, outrider::config::OptionValue> options;  // set and defaulted, checked against the plugin's schema
};

namespace outrider::drafting {

class DraftRunnerWindow;

class HostServices {
 public:
  // `plugin` names it in the log. `context` is what config reads that pass NULL see, from the calling thread; it must outlive this.
  HostServices(config::RuntimeContext& context, std::string plugin);
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  [[nodiscard]] const outrider_host* host() const { return &host_; }
  [[nodiscard]] uint64_t bytes_held() const { return bytes_held_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::string& plugin() const { return plugin_; }

  // Used by the service functions.
  static HostServices& of(const outrider_host* host) { return *static_cast<HostServices*>(host->context); }
  outrider_status read(const outrider_config* config, const char* key, config::OptionValue& value);
  const char* lend(const std::string& text);            // a copy that lives as long as the services
  const outrider_config& keep(outrider_config config);  // as lend()
  [[nodiscard]] DraftRunnerWindow* runner() const { return runner_.load(std::memory_order_acquire); }  // null: no worker is being built
  void set_runner(DraftRunnerWindow* runner) { runner_.store(runner, std::memory_order_release); }
  void account(int64_t bytes) { bytes_held_.fetch_add(static_cast<uint64_t>(bytes), std::memory_order_relaxed); }

 private:
  config::RuntimeContext& context_;
  std::string plugin_;
  outrider_host host_;
  std::atomic<uint64_t> bytes_held_{0};
  std::atomic<DraftRunnerWindow*> runner_{nullptr};
  std::mutex mutex_;
  std::set<std::string> lent_;  // each text once, so that it is bounded by the number of different values
  std::deque<outrider_config> configs_;
};

}  // namespace outrider::drafting
