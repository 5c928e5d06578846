// A plugin's bytes in a file of this process's own. Two hazards need it: the dynamic linker hands back the old library when a path is
// opened twice, and a library overwritten in place kills the process that runs it. So what was checked is what is loaded, under a path
// that was never used before, and what happens to the original afterwards does not matter.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/result.hpp"

namespace outrider::drafting {

// Reads a whole regular file. An Error is a Refusal's text (missing, a folder, not readable, too large to be a plugin).
Result<std::string> read_file(const std::filesystem::path& path);

class PrivateCopy {
 public:
  // Writes `bytes` to NAME in a fresh folder below the temporary folder ($TMPDIR).
  static Result<PrivateCopy> make(std::span<const std::byte> bytes, const std::string& name);
  PrivateCopy(PrivateCopy&& other) noexcept;
  PrivateCopy& operator=(PrivateCopy&&) = delete;
  ~PrivateCopy();  // removes file and folder; a library already loaded from it keeps working

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateCopy(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace outrider::drafting
