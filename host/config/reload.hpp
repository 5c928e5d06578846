// Re-reading the configuration while requests run (SIGHUP). The reloadable fields that changed become one override; fields that need a
// restart are named and left alone; a file with any fault changes nothing. Calls from several threads run one after another.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "config/runtime_context.hpp"

namespace outrider::config {

struct ReloadReport {
  std::vector<std::string> applied;  // field paths
  std::vector<std::string> restart;  // changed, but only a restart makes them so: field paths, "drafter.NAME", "plugins.paths"
  [[nodiscard]] std::string text() const;
};

class Reloader {
 public:
  // `sources` are read anew on each reload, so their files must not be pipes. The context's args must have come from them.
  Reloader(RuntimeContext& context, Sources sources);

  Result<ReloadReport> reload();

 private:
  RuntimeContext& context_;
  Sources sources_;
  ServerArgs loaded_;  // as of the last reload
  std::mutex mutex_;
};

}  // namespace outrider::config
