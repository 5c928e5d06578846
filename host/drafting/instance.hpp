// One built drafter: the library, the services it was lent, its configuration, the drafter and its worker, taken down in reverse order
// however far building got.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "drafting/host_services.hpp"
#include "drafting/loader.hpp"
#include "outrider/plugin.h"

namespace outrider::drafting {

class Instance {
 public:
  explicit Instance(std::shared_ptr<PluginLibrary> opened) : library(std::move(opened)) {}
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // The plugin may have damaged memory or be running still: nothing of it is called or unmapped any more.
  void abandon();

  std::shared_ptr<PluginLibrary> library;
  std::unique_ptr<HostServices> services;
  std::unique_ptr<outrider_config> config;
  const outrider_drafter_1* table = nullptr;
  const outrider_corpora_1* corpora = nullptr;  // null: it takes none
  bool initialised = false;
  outrider_drafter* drafter = nullptr;
  outrider_worker* worker = nullptr;
};

}  // namespace outrider::drafting
