#include "drafting/loader.hpp"

#include <boost/dll/shared_library.hpp>
#include <mutex>
#include <set>
#include <span>

#include "base/log.hpp"
#include "drafting/private_copy.hpp"
#include "drafting/probe.hpp"
#include "drafting/refusal.hpp"

namespace outrider::drafting {
namespace {

// One thread opens plugins at a time, and two live generations never share an entry: if they did, the dynamic linker would have handed
// back the old library for the new file. Never destroyed, so that plugins may be closed during exit.
struct LiveEntries {
  std::mutex mutex;
  std::set<const void*> entries;
};
LiveEntries& live() {
  static auto* const instance = new LiveEntries;
  return *instance;
}

struct Checked {
  PluginNote note;
  PrivateCopy copy;
};

// Steps 1 to 3: read, check, copy, try out.
Result<Checked> check(const std::filesystem::path& file) {
  const std::string name = file.string();
  OUTRIDER_TRY(const std::string bytes, read_file(file));
  const auto view = std::as_bytes(std::span(bytes));
  OUTRIDER_TRY(PluginNote note, read_plugin_file(view, name));
  OUTRIDER_TRY(PrivateCopy copy, PrivateCopy::make(view, file.filename().string()));
  OUTRIDER_CHECK(probe(copy.path(), name));
  return Checked{std::move(note), std::move(copy)};
}

const char* text(const char* from_plugin) { return from_plugin == nullptr ? "" : from_plugin; }

}  // namespace

struct PluginLibrary::Handle {
  boost::dll::shared_library library;
};

Result<PluginNote> check_plugin(const std::filesystem::path& file) {
  OUTRIDER_TRY(Checked checked, check(file));
  return checked.note;
}

Result<std::shared_ptr<PluginLibrary>> PluginLibrary::open(const std::filesystem::path& file) {
  const std::string name = file.string();
  OUTRIDER_TRY(Checked checked, check(file));
  std::shared_ptr<PluginLibrary> plugin(new PluginLibrary);
  plugin->file_ = file;
  plugin->note_ = checked.note;
  const std::lock_guard lock(live().mutex);
  try {
    plugin->handle_ = std::make_unique<Handle>();
    plugin->handle_->library.load(checked.copy.path(), boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
    plugin->entry_ = plugin->handle_->library.get<const outrider_entry_v1*()>(OUTRIDER_ENTRY_SYMBOL)();
  } catch (const std::exception& e) {
    return refused(name, std::string("it does not load: ") + e.what(), "see the plugin's own documentation");
  } catch (...) {
    return refused(name, "an exception left its entry function", "report it to the plugin's author");
  }
  OUTRIDER_CHECK(plugin->negotiate(name));
  if (!live().entries.insert(plugin->entry_).second) {
    plugin->entry_ = nullptr;
    return refused(name, "the dynamic linker handed back a library that is already in use", "restart outrider");
  }
  plugin->registered_ = true;
  return plugin;
}

Result<void> PluginLibrary::negotiate(const std::string& name) {
  if (entry_ == nullptr) return refused(name, "its entry function returned NULL", "report it to the plugin's author");
  if (!OUTRIDER_HAS(outrider_entry_v1, entry_, query) || entry_->descriptor == nullptr) {
    return refused(name,
                   "its entry has " + std::to_string(entry_->struct_size) + " bytes, this ABI's first version has " +
                       std::to_string(sizeof(outrider_entry_v1)),
                   "rebuild the plugin against this host's headers");
  }
  // The note was believed so far; the code it belongs to must say the same.
  if (const AbiMismatch mismatch = abi_mismatch(entry_->abi_major, entry_->abi_minor, entry_->min_host_minor); !mismatch.reason.empty()) {
    return refused(name, mismatch.reason, mismatch.remedy);
  }
  try {
    descriptor_ = entry_->descriptor();
  } catch (...) {
    return refused(name, "an exception left its descriptor function", "report it to the plugin's author");
  }
  if (!OUTRIDER_HAS(outrider_descriptor, descriptor_, state_format) || !descriptor_->id || !descriptor_->version) {
    return refused(name, "its descriptor is incomplete", "fill in every field of outrider_descriptor");
  }
  if (note_.id != descriptor_->id || note_.version != descriptor_->version || note_.capabilities != descriptor_->capabilities) {
    return refused(name,
                   "its note says " + note_.id + " " + note_.version + ", its descriptor " + text(descriptor_->id) + " " +
                       text(descriptor_->version) + " (or their capabilities differ)",
                   "write both from the same constants, as OUTRIDER_PLUGIN does");
  }
  return {};
}

const void* PluginLibrary::query_raw(const char* id) const {
  try {
    return entry_->query(id);
  } catch (...) {
    log::warn("plugin {}: an exception left its query function for {}", file_.string(), id);
    return nullptr;
  }
}

PluginLibrary::~PluginLibrary() {
  const std::lock_guard lock(live().mutex);
  if (registered_) live().entries.erase(entry_);
  handle_.reset();
}

}  // namespace outrider::drafting
