// A published configuration with one drafter in it, and a drafter made from it the way the program does.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/runtime_context.hpp"
#include "drafting/draft_host.hpp"
#include "drafting/drafter.hpp"

namespace contract {

using outrider::config::OptionValue;

constexpr int32_t kVocabSize = 1000;

struct Setup {
  std::string name = "bad";  // of the [drafter.NAME] table
  std::string library;       // empty: NAME.so from the search folders
  std::vector<std::pair<std::string, OptionValue>> options = {};
  std::vector<std::pair<std::string, std::string>> corpora = {};  // name, file
  std::vector<outrider::config::Assignment> fields = {};
};

std::string evil(const std::string& name);  // path of tests/evil's NAME.so
Setup misbehaving(const std::string& mode, int64_t faults = 0);

class Session {
 public:
  explicit Session(const Setup& setup);

  outrider::config::RuntimeContext context;
  outrider::Result<std::unique_ptr<outrider::drafting::Drafter>> drafter;

  // One request through the drafter: its tokens, and a round of propose.
  outrider::drafting::Drafter& operator*() { return **drafter; }
  outrider::drafting::Drafter* operator->() { return drafter->get(); }
  outrider::verify::DraftTree propose(uint64_t request, const std::vector<int32_t>& tokens, int32_t new_tokens, int32_t max_nodes = 8,
                                      int32_t max_depth = 4);

 private:
  std::string name_;
};

// What was wrong with the last drafter; empty when it was made.
std::string refusal(const Session& session);

// Words to ids, for tests: each byte is a token.
outrider::Result<std::vector<int32_t>> byte_tokens(std::string_view text);

// A folder of this test's own, gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

std::string read(const std::filesystem::path& file);

}  // namespace contract
