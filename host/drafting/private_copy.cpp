#include "drafting/private_copy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "drafting/refusal.hpp"

namespace outrider::drafting {
namespace {

constexpr off_t kLargest = off_t{1} << 30;  // a plugin is code; weights live in their own files

std::string errno_text() { return std::generic_category().message(errno); }

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) {
    return refused(name, errno == ENOENT ? "there is no such file" : "it cannot be opened: " + errno_text(),
                   errno == ENOENT ? "check the path" : "check the permissions");
  }
  struct stat info = {};
  if (::fstat(file.fd, &info) != 0) return refused(name, "it cannot be examined: " + errno_text(), "check the file system");
  if (!S_ISREG(info.st_mode)) return refused(name, "it is not a regular file", "name the plugin's .so file");
  if (info.st_size > kLargest) return refused(name, "it is larger than 1 GiB", "name the plugin's .so file");
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(file.fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return refused(name, "reading it failed: " + errno_text(), "check the file system");
    if (n == 0) break;  // it shrank meanwhile; the check of the bytes will say so
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

Result<PrivateCopy> PrivateCopy::make(std::span<const std::byte> bytes, const std::string& name) {
  std::error_code failed;
  const std::filesystem::path base = std::filesystem::temp_directory_path(failed);
  std::string folder = ((failed ? std::filesystem::path("/tmp") : base) / "outrider-XXXXXX").string();
  const auto trouble = [&](const std::string& what) {
    return refused(name, what + " " + folder + " failed: " + errno_text(), "point TMPDIR at a folder with space that allows execution");
  };
  if (::mkdtemp(folder.data()) == nullptr) return trouble("making the private folder");
  PrivateCopy copy(std::filesystem::path(folder) / name);
  const Descriptor file{::open(copy.path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0500)};
  if (file.fd < 0) return trouble("making a file in");
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(file.fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return trouble("writing to");
    done += static_cast<size_t>(n);
  }
  return copy;
}

PrivateCopy::PrivateCopy(PrivateCopy&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }

PrivateCopy::~PrivateCopy() {
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(path_.parent_path().c_str());
}

}  // namespace outrider::drafting
