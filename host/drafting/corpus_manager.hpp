// The corpora of one drafter: texts that all its requests may draw from. The manager is their one owner: it reads files, tokenizes, keeps
// names, and hands token ids to the drafter; a plugin never opens a corpus itself. Any thread; calls wait for each other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "drafting/draft_host.hpp"

namespace outrider::drafting {

// Where corpora go: the plugin's outrider.corpora/1.
struct CorpusSink {
  std::function<Result<void>(const std::string& name, std::span<const int32_t> tokens)> add;
  std::function<Result<void>(const std::string& name)> remove;
};

struct CorpusInfo {
  std::string name;
  std::string file;  // empty: given as tokens
  uint64_t documents = 0, tokens = 0;
};

class CorpusManager {
 public:
  // Ids must be in [0, vocab_size). What `tokenize` and `sink` refer to must outlive the manager.
  CorpusManager(CorpusSink sink, Tokenize tokenize, int32_t vocab_size);
  ~CorpusManager();  // takes all corpora from the drafter
  CorpusManager(const CorpusManager&) = delete;
  CorpusManager& operator=(const CorpusManager&) = delete;

  // A file of one document a line, each a JSON string (text, tokenized) or a JSON array of token ids. Empty lines are skipped. Replaces a
  // corpus of the same name, and leaves it as it was on failure. Errors name file and line.
  Result<void> add_file(const std::string& name, const std::filesystem::path& file);

  // The same from documents of token ids.
  Result<void> add(const std::string& name, const std::vector<std::vector<int32_t>>& documents);

  // Errors: there is none of that name (those there are, are listed).
  Result<void> remove(const std::string& name);

  [[nodiscard]] std::vector<CorpusInfo> list() const;

 private:
  Result<void> hand_on(CorpusInfo info, const std::vector<int32_t>& tokens);
  Result<void> append(const std::vector<int32_t>& document, std::vector<int32_t>& tokens) const;

  CorpusSink sink_;
  Tokenize tokenize_;
  int32_t vocab_size_;
  mutable std::mutex mutex_;
  std::map<std::string, CorpusInfo> corpora_;
};

}  // namespace outrider::drafting
