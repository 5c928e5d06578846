// Opening a plugin: from a file to a library whose entry speaks this host's ABI. The order is chosen so that as little foreign code as
// possible has run when something turns out wrong: bytes are checked, then copied, then tried out in a child process, then opened here
// (Boost.DLL, rtld_now | rtld_local), then negotiated with. Boost.DLL is seen by loader.cpp alone.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "drafting/elf_file.hpp"
#include "outrider/entry.h"

namespace outrider::drafting {

class PluginLibrary {
 public:
  // Opens `file`. An Error is a Refusal's text. Control thread.
  static Result<std::shared_ptr<PluginLibrary>> open(const std::filesystem::path& file);
  ~PluginLibrary();  // closes it; whether it is then unmapped is the dynamic linker's business
  PluginLibrary(const PluginLibrary&) = delete;
  PluginLibrary& operator=(const PluginLibrary&) = delete;

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] const PluginNote& note() const { return note_; }
  [[nodiscard]] const outrider_entry_v1& entry() const { return *entry_; }
  [[nodiscard]] const outrider_descriptor& descriptor() const { return *descriptor_; }

  // The interface `id`, or null. What the plugin throws here is taken as null.
  template <class Interface>
  [[nodiscard]] const Interface* query(const char* id) const {
    return static_cast<const Interface*>(query_raw(id));
  }

 private:
  PluginLibrary() = default;
  Result<void> negotiate(const std::string& name);
  [[nodiscard]] const void* query_raw(const char* id) const;

  struct Handle;  // Boost.DLL's
  std::filesystem::path file_;
  PluginNote note_;
  std::unique_ptr<Handle> handle_;
  const outrider_entry_v1* entry_ = nullptr;
  const outrider_descriptor* descriptor_ = nullptr;
  bool registered_ = false;  // among the live entries
};

// The checks of open() that run no code of the plugin in this process: bytes and probe. What `discover` shows.
Result<PluginNote> check_plugin(const std::filesystem::path& file);

}  // namespace outrider::drafting
