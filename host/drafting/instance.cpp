#include "drafting/instance.hpp"

#include "base/log.hpp"
#include "drafting/plugin_call.hpp"

namespace outrider::drafting {

Instance::~Instance() {
  if (library == nullptr) return;
  bool quiet = true;
  if (worker != nullptr) quiet &= call_plugin_void([&] { table->worker_destroy(worker); });
  if (drafter != nullptr) quiet &= call_plugin_void([&] { table->destroy(drafter); });
  if (initialised && library->entry().deinit != nullptr) quiet &= call_plugin_void([&] { library->entry().deinit(); });
  if (!quiet) {
    log::warn("plugin {}: an exception left it while it was taken down; it stays mapped", library->file().string());
    abandon();
    return;
  }
  if (services && services->bytes_held() != 0) {
    log::warn("plugin {}: it still held {} bytes when it was taken down", library->file().string(), services->bytes_held());
  }
}

void Instance::abandon() {
  library->keep_open();
  library.reset();
  // Code that may still run may still look at these.
  static_cast<void>(services.release());
  static_cast<void>(config.release());
}

}  // namespace outrider::drafting
