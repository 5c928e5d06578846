// Shared by the configuration's tests: args made in a line, and files that are gone afterwards.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "config/runtime_context.hpp"

namespace outrider::config::test {

inline std::shared_ptr<const ServerArgs> make_args(const std::vector<Assignment>& assignments = {}) {
  std::vector<Write> writes;
  for (const Assignment& one : assignments) writes.emplace_back(Origin{Origin::Kind::option, "--set " + one.field}, one.field, one.value);
  Result<ServerArgs> args = ServerArgs().derive(writes);
  if (!args) FAIL(args.error().message);
  return std::make_shared<const ServerArgs>(*std::move(args));
}

inline void must(const Result<void>& result) {
  if (!result) FAIL(result.error().message);
}
inline Published must(Result<Published> result) {
  if (!result) FAIL(result.error().message);
  return *std::move(result);
}

// A folder of its own; removed at the end of the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "outrider-config-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) FAIL("no temporary folder");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    const std::string file = (path_ / name).string();
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace outrider::config::test
