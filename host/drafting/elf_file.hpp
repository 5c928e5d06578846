// What a plugin file says about itself, read from its bytes without running any of them. Every offset and length in the file is checked
// against its size before use. It judges the file's form only; whether it loads is the probe's to find out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"

namespace outrider::drafting {

// The note of outrider/note.h.
struct PluginNote {
  uint32_t abi_major = 0, abi_minor = 0, min_host_minor = 0;
  uint64_t capabilities = 0;  // OUTRIDER_CAP_…
  std::string id, version, sdk_version;
};

// Checks that `bytes`, the whole of `file`, is a complete ELF shared library for this machine, is a plugin (has the note and exports the
// entry symbol), is built for an ABI this host speaks, and was not built for a sanitizer this host was not. An Error is a Refusal's text.
Result<PluginNote> read_plugin_file(std::span<const std::byte> bytes, const std::string& file);

// Why a plugin of these versions does not run here; empty when it does. `remedy` says which side to renew.
struct AbiMismatch {
  std::string reason, remedy;
};
AbiMismatch abi_mismatch(uint32_t major, uint32_t minor, uint32_t min_host_minor);

}  // namespace outrider::drafting
