#include "drafting/registry.hpp"

#include <algorithm>
#include <system_error>

#include "base/log.hpp"
#include "drafting/refusal.hpp"
#include "drafting/search.hpp"

namespace outrider::drafting {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

}  // namespace

Result<void> Registry::add(const std::string& name, std::filesystem::path library, DrafterFactory factory) {
  if (name.empty() || name == "none") {
    return Error{"registering a drafter: expected a name, found '" + name + "', which is reserved; choose another"};
  }
  if (const auto existing = items_.find(name); existing != items_.end()) {
    return Error{"registering drafter '" + name + "': the name is taken by " + existing->second.library.string() + "; choose another"};
  }
  items_.emplace(name, Item{std::move(library), std::move(factory)});
  return {};
}

Result<const Registry::Item*> Registry::find(const std::string& name) const {
  if (const auto found = items_.find(name); found != items_.end()) return &found->second;
  std::vector<std::string> names;
  for (const auto& [known, item] : items_) names.push_back(known);
  const std::string near = config::nearest(name, names);
  return refused(name, "there is no drafter of that name; there are: " + (names.empty() ? "none" : joined(names)),
                 near.empty() ? "put " + name + ".so into a folder of [plugins] paths, or set [drafter." + name + "] library"
                              : "did you mean '" + near + "'?");
}

Registry registry_of(const config::ServerArgs& args) {
  Registry registry;
  const auto add = [&](const std::string& name, const std::filesystem::path& library) {
    const auto made = registry.add(name, library, [library](const HandOver& hand_over) { return build_drafter(library, hand_over); });
    if (!made) log::warn("{}", made.error().message);
  };
  for (const config::DrafterTable& table : args.drafters) add(table.name, find_library(args, table.name));
  for (const std::filesystem::path& folder : search_folders(args)) {
    std::vector<std::filesystem::path> files;
    std::error_code unreadable;
    for (std::filesystem::directory_iterator entry(folder, unreadable), end; !unreadable && entry != end; entry.increment(unreadable)) {
      if (entry->path().extension() == ".so") files.push_back(entry->path());
    }
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& file : files) {
      if (!registry.items().contains(file.stem().string())) add(file.stem().string(), file);
    }
  }
  return registry;
}

}  // namespace outrider::drafting
