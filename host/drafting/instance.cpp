#include "drafting/instance.hpp"

#include <mutex>
#include <utility>

#include "base/log.hpp"
#include "drafting/plugin_call.hpp"

namespace outrider::drafting {
namespace {

// What was abandoned. Held, so that it is known to be kept and not lost; never destroyed, so that it also survives the exit.
struct Abandoned {
  std::shared_ptr<PluginLibrary> library;
  std::unique_ptr<HostServices> services;
  std::unique_ptr<outrider_config> config;
  outrider_drafter* drafter;
  outrider_worker* worker;
  std::vector<outrider_request*> requests;
};

void keep_for_ever(Abandoned abandoned) {
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::vector<Abandoned>;
  const std::lock_guard lock(*mutex);
  all->push_back(std::move(abandoned));
}

}  // namespace

Instance::~Instance() {
  if (abandoned()) return;
  bool quiet = true;
  if (worker != nullptr) quiet &= call_plugin_void([&] { table->worker_destroy(worker); });
  if (drafter != nullptr) quiet &= call_plugin_void([&] { table->destroy(drafter); });
  if (initialised && library->entry().deinit != nullptr) quiet &= call_plugin_void([&] { library->entry().deinit(); });
  if (!quiet) {
    log::warn("plugin {}: an exception left it while it was taken down; it stays mapped", library->file().string());
    abandon({});
    return;
  }
  if (services && services->bytes_held() != 0) {
    log::warn("plugin {}: it still held {} bytes when it was taken down", library->file().string(), services->bytes_held());
  }
}

void Instance::abandon(std::vector<outrider_request*> requests) {
  abandoned_.store(true, std::memory_order_release);
  keep_for_ever({std::move(library), std::move(services), std::move(config), drafter, worker, std::move(requests)});
}

}  // namespace outrider::drafting
