#include "drafting/draft_host.hpp"
#include "drafting/loader.hpp"
#include "drafting/private_copy.hpp"
#include "drafting/registry.hpp"

namespace outrider::drafting {

std::vector<DiscoveredPlugin> discover(const config::ServerArgs& args) {
  std::vector<DiscoveredPlugin> found;
  const Registry registry = registry_of(args);
  for (const auto& [name, item] : registry.items()) {
    DiscoveredPlugin plugin;
    plugin.name = name;
    plugin.library = item.library.string();
    if (item.library.empty()) {
      plugin.why_not = "[drafter." + name + "] is configured, but there is no " + name + ".so in the search folders; set its library";
    } else if (const auto note = check_plugin(item.library); note.ok()) {
      plugin.id = note->id;
      plugin.version = note->version;
      plugin.loadable = true;
    } else {
      plugin.why_not = note.error().message;
    }
    found.push_back(std::move(plugin));
  }
  return found;
}

}  // namespace outrider::drafting
