#include "drafting/corpus_manager.hpp"

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "outrider/corpora.h"

namespace outrider::drafting {

CorpusManager::CorpusManager(CorpusSink sink, Tokenize tokenize, int32_t vocab_size)
    : sink_(std::move(sink)), tokenize_(std::move(tokenize)), vocab_size_(vocab_size) {}

CorpusManager::~CorpusManager() {
  // The drafter goes too; a corpus it will not give up is nobody's any more.
  for (const auto& [name, info] : corpora_) static_cast<void>(sink_.remove(name));
}

Result<void> CorpusManager::append(const std::vector<int32_t>& document, std::vector<int32_t>& tokens) const {
  for (const int32_t token : document) {
    if (token < 0 || token >= vocab_size_) {
      return Error{"expected token ids from 0 to " + std::to_string(vocab_size_ - 1) + ", found " + std::to_string(token) +
                   "; was it made with another model's tokenizer?"};
    }
  }
  if (!tokens.empty()) tokens.push_back(OUTRIDER_CORPUS_BREAK);
  tokens.insert(tokens.end(), document.begin(), document.end());
  return {};
}

Result<void> CorpusManager::add_file(const std::string& name, const std::filesystem::path& file) {
  errno = 0;
  std::ifstream stream(file);
  if (!stream) {
    return Error{"corpus " + name + ": " + file.string() + ": it cannot be opened (" + std::generic_category().message(errno) +
                 "); check the path"};
  }
  CorpusInfo info = {name, file.string(), 0, 0};
  std::vector<int32_t> tokens;
  std::string line;
  for (uint64_t number = 1; std::getline(stream, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = "corpus " + name + ": " + file.string() + ":" + std::to_string(number);
    const nlohmann::json value = nlohmann::json::parse(line, nullptr, false);
    std::vector<int32_t> document;
    if (value.is_string()) {
      if (!tokenize_)
        return Error{where + ": expected an array of token ids, found a text, and there is no tokenizer here; tokenize it first"};
      auto ids = tokenize_(value.get_ref<const std::string&>());
      if (!ids) return ids.error().within(where);
      document = *std::move(ids);
    } else {
      bool ids = value.is_array();
      for (size_t i = 0; ids && i < value.size(); ++i) {
        // Not get<int32_t>: that would wrap a number that is too large.
        ids = value[i].is_number_integer() && value[i] >= INT32_MIN && value[i] <= INT32_MAX;
        if (ids) document.push_back(value[i].get<int32_t>());
      }
      if (!ids) return Error{where + ": expected a JSON string or an array of token ids, found something else; one document a line"};
    }
    if (document.empty()) continue;
    if (auto appended = append(document, tokens); !appended) return appended.error().within(where);
    ++info.documents;
  }
  if (stream.bad()) return Error{"corpus " + name + ": reading " + file.string() + " failed; check the file system"};
  return hand_on(std::move(info), tokens);
}

Result<void> CorpusManager::add(const std::string& name, const std::vector<std::vector<int32_t>>& documents) {
  CorpusInfo info = {name, "", 0, 0};
  std::vector<int32_t> tokens;
  for (const std::vector<int32_t>& document : documents) {
    if (document.empty()) continue;
    if (auto appended = append(document, tokens); !appended) return appended.error().within("corpus " + name);
    ++info.documents;
  }
  return hand_on(std::move(info), tokens);
}

Result<void> CorpusManager::hand_on(CorpusInfo info, const std::vector<int32_t>& tokens) {
  if (tokens.empty()) return Error{"corpus " + info.name + ": expected at least one token, found none; give it a document or leave it out"};
  info.tokens = tokens.size() - (info.documents - 1);  // without the breaks
  const std::lock_guard lock(mutex_);
  if (auto taken = sink_.add(info.name, tokens); !taken) return taken.error().within("corpus " + info.name);
  corpora_[info.name] = std::move(info);
  return {};
}

Result<void> CorpusManager::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = corpora_.find(name);
  if (found == corpora_.end()) {
    std::string all;
    for (const auto& [known, info] : corpora_) all += (all.empty() ? "" : ", ") + known;
    return Error{"corpus " + name + ": there is none of that name; there are: " + (all.empty() ? "none" : all)};
  }
  if (auto removed = sink_.remove(name); !removed) return removed.error().within("corpus " + name);
  corpora_.erase(found);
  return {};
}

std::vector<CorpusInfo> CorpusManager::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<CorpusInfo> all;
  for (const auto& [name, info] : corpora_) all.push_back(info);
  return all;
}

}  // namespace outrider::drafting
