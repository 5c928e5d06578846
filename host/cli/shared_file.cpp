#include "cli/shared_file.hpp"

namespace outrider::cli {

std::filesystem::path shared_file(const std::string& name) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  std::filesystem::path file = program.parent_path().parent_path() / "share/outrider" / name;
  return std::filesystem::is_regular_file(file, error) ? file : std::filesystem::path();
}

}  // namespace outrider::cli
