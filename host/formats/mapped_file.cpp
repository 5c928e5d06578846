#include "formats/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace outrider::formats {
namespace {

Error cannot_open(const std::filesystem::path& path, int error_number) {
  std::string remedy = "check the path and its permissions";
  if (error_number == ENOENT) remedy = "check the path, or fetch a model with scripts/fetch-model";
  return {path.string() + ": cannot be read (" + std::strerror(error_number) + "); " + remedy};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return cannot_open(path, errno);
  struct stat status = {};
  if (::fstat(file, &status) != 0) {
    const int error_number = errno;
    ::close(file);
    return cannot_open(path, error_number);
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(file);
    return Error{path.string() + ": expected a regular file, found " + (S_ISDIR(status.st_mode) ? "a folder" : "a special file") +
                 "; name the model's file"};
  }
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) {  // mmap refuses to map nothing
    ::close(file);
    return MappedFile();
  }
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  const int error_number = errno;
  ::close(file);
  if (address == MAP_FAILED) return cannot_open(path, error_number);
  return MappedFile(std::span<const std::byte>(static_cast<const std::byte*>(address), size));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::wish_huge_pages() const {
  if (!bytes_.empty()) ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_HUGEPAGE);  // failing costs speed alone
}

void MappedFile::release(std::span<const std::byte> part) const {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(part.data());
  const uintptr_t first = (begin + page - 1) / page * page;  // inward: the neighbours on a shared page may still be in use
  const uintptr_t last = (begin + part.size()) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace outrider::formats
