#include "drafting/search.hpp"

#include <system_error>

namespace outrider::drafting {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// lib/outrider, as it lies beside bin/: by its plain name, and by the one this build installs to (which may name the machine).
std::vector<fs::path> own_folders() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return {};
  const fs::path prefix = program.parent_path().parent_path();
  std::vector<fs::path> folders = {prefix / "lib" / "outrider"};
  if (std::string(OUTRIDER_INSTALL_LIBDIR) != "lib") folders.push_back(prefix / OUTRIDER_INSTALL_LIBDIR / "outrider");
  return folders;
}

}  // namespace

fs::path folder_of(const config::Origin& origin) {
  return origin.kind == config::Origin::Kind::file ? fs::path(origin.where).parent_path() : fs::path();
}

std::vector<fs::path> search_folders(const config::ServerArgs& args) {
  std::vector<fs::path> folders;
  for (const std::string& path : args.plugin_paths) folders.push_back(folder_of(args.plugin_paths_origin) / path);
  for (const fs::path& folder : own_folders()) folders.push_back(folder / "plugins");
  return folders;
}

fs::path find_library(const config::ServerArgs& args, const std::string& name) {
  const config::DrafterTable* table = args.drafter(name);
  fs::path file = name + ".so";
  if (table != nullptr && table->library) {
    file = *table->library;
    const fs::path written = folder_of(table->library_origin) / file;
    // A path is meant as it stands, also when nothing is there: the message then names it.
    if (file.has_parent_path() || is_file(written)) return written;
  }
  for (const fs::path& folder : search_folders(args)) {
    if (is_file(folder / file)) return folder / file;
  }
  return {};
}

fs::path probe_program() {
  for (const fs::path& folder : own_folders()) {
    if (is_file(folder / "outrider-probe")) return folder / "outrider-probe";
  }
  return {};
}

}  // namespace outrider::drafting
