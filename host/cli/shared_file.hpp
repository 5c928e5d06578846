// Files that come along with the program: they lie in share/outrider beside its bin folder, in the build tree as in an installation.
#pragma once

#include <filesystem>
#include <string>

namespace outrider::cli {

// Where `name` lies; empty when it is not there.
std::filesystem::path shared_file(const std::string& name);

}  // namespace outrider::cli
