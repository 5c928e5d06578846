// A whole file as read-only memory. The bytes stay valid and at one address until the MappedFile goes. If another process
// shortens the file meanwhile, touching the lost pages ends this process (SIGBUS), as with every mapping: replace model files by
// renaming, as scripts/fetch-model does, never by writing over them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/result.hpp"

namespace outrider::formats {

class MappedFile {
 public:
  // Errors: the file cannot be opened or mapped, or is not a regular file. An empty file maps to no bytes.
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept : bytes_(other.bytes_) { other.bytes_ = {}; }
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

  // Asks for huge pages where the file's system can lend them: for bytes that are read again and again.
  void wish_huge_pages() const;

  // Hands back the memory of the whole pages inside `part`, which lies in bytes(). The bytes stay readable.
  void release(std::span<const std::byte> part) const;

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace outrider::formats
