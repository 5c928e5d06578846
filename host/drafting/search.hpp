// Where plugins, and the probe that tries them out, are looked for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/server_args.hpp"

namespace outrider::drafting {

// [plugins] paths in order, then lib/outrider/plugins beside this program's bin folder (the build tree and an installation look alike).
// A relative path written in a file is relative to that file's folder. Folders that do not exist are left in: messages name them.
std::vector<std::filesystem::path> search_folders(const config::ServerArgs& args);

// The library of [drafter.NAME]: `library` where set (a path, relative to the file it is written in; a bare file name is looked for in the
// search folders), else NAME.so in the first search folder that has it. Empty when there is none.
std::filesystem::path find_library(const config::ServerArgs& args, const std::string& name);

// outrider-probe; empty when it is not where it was installed.
std::filesystem::path probe_program();

// The folder a path was written relative to: that of a file's origin, else the working folder (empty).
std::filesystem::path folder_of(const config::Origin& origin);

}  // namespace outrider::drafting
