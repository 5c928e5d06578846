#include "support.hpp"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

namespace contract {

using namespace outrider;

std::string evil(const std::string& name) { return std::string(OUTRIDER_TEST_EVIL) + "/" + name + ".so"; }

Setup misbehaving(const std::string& mode, int64_t faults) {
  Setup setup;
  setup.library = evil("misbehaves");
  setup.options = {{"mode", mode}, {"faults", faults}};
  return setup;
}

namespace {

// The configuration a file with this setup would give.
std::shared_ptr<const config::ServerArgs> arguments(const Setup& setup) {
  config::ServerArgs args;
  args.plugin_paths = {OUTRIDER_TEST_PLUGINS};
  config::DrafterTable table;
  table.name = setup.name;
  if (!setup.library.empty()) table.library = setup.library;
  for (const auto& [key, value] : setup.options) table.options.push_back({key, value, {config::Origin::Kind::option, "--set", 0, 0}});
  for (const auto& [name, file] : setup.corpora) table.corpora.push_back({name, file, {config::Origin::Kind::option, "--set", 0, 0}});
  args.drafters.push_back(std::move(table));
  std::vector<config::Write> writes;
  for (const config::Assignment& set : setup.fields)
    writes.emplace_back(config::Origin{config::Origin::Kind::option, "--set", 0, 0}, set.field, set.value);
  auto derived = args.derive(writes);
  if (!derived) throw std::runtime_error(derived.error().message);
  return std::make_shared<const config::ServerArgs>(*std::move(derived));
}

Result<std::unique_ptr<drafting::Drafter>> make(config::RuntimeContext& context, const Setup& setup) {
  if (auto published = context.publish(arguments(setup), config::Role::test); !published) return published.error();
  drafting::TargetInfo target;
  target.vocab_size = kVocabSize;
  target.context_length = 4096;
  target.max_requests = 8;
  target.architecture = "test";
  return drafting::make_drafter(context, setup.name, target, byte_tokens);
}

}  // namespace

Session::Session(const Setup& setup) : drafter(make(context, setup)), name_(setup.name) {}

std::string refusal(const Session& session) { return session.drafter.ok() ? "" : session.drafter.error().message; }

verify::DraftTree Session::propose(uint64_t request, const std::vector<int32_t>& tokens, int32_t new_tokens, int32_t max_nodes,
                                   int32_t max_depth) {
  drafting::DraftRequest item = {request, tokens, new_tokens, max_nodes, max_depth, {}};
  (*drafter)->propose(std::span(&item, 1));
  return item.draft;
}

Result<std::vector<int32_t>> byte_tokens(std::string_view text) {
  std::vector<int32_t> ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "outrider-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryFolder::write(const std::string& name, std::string_view bytes) const {
  std::ofstream(path_ / name, std::ios::binary) << bytes;
  return path_ / name;
}

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace contract
