// Which drafters there are, by name, and how each is made. The registry knows names and factories, nothing else.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/server_args.hpp"
#include "drafting/drafter.hpp"
#include "drafting/hand_over.hpp"

namespace outrider::drafting {

using DrafterFactory = std::function<Result<std::unique_ptr<Drafter>>(const HandOver&)>;

class Registry {
 public:
  // Errors: the name is empty, reserved ("none") or taken.
  Result<void> add(const std::string& name, std::filesystem::path library, DrafterFactory factory);

  struct Item {
    std::filesystem::path library;  // empty: configured, but there is no such file
    DrafterFactory factory;
  };
  // The item called `name`. The error lists those there are, the nearest first.
  [[nodiscard]] Result<const Item*> find(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, Item>& items() const { return items_; }

 private:
  std::map<std::string, Item> items_;
};

// Every [drafter.NAME] table, then each *.so of the search folders whose name is not yet taken, as PATH does.
Registry registry_of(const config::ServerArgs& args);

}  // namespace outrider::drafting
