// One built drafter: the library, the services it was lent, its configuration, the drafter and its worker, taken down in reverse order
// however far building got.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

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

  // The plugin may have damaged memory or be running still: nothing of it is called, freed or unmapped until the process ends. `requests`
  // are those it knows; they are kept too, since its code may still look at them.
  void abandon(std::vector<outrider_request*> requests);
  [[nodiscard]] bool abandoned() const { return abandoned_.load(std::memory_order_acquire); }  // any thread

  std::shared_ptr<PluginLibrary> library;
  std::unique_ptr<HostServices> services;
  std::unique_ptr<outrider_config> config;
  const outrider_drafter_1* table = nullptr;
  const outrider_corpora_1* corpora = nullptr;  // null: it takes none
  bool initialised = false;
  outrider_drafter* drafter = nullptr;
  outrider_worker* worker = nullptr;

 private:
  std::atomic<bool> abandoned_{false};
};

}  // namespace outrider::drafting
