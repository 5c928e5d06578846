#include "config/reload.hpp"

#include <sys/stat.h>

#include <thread>

#include "support.hpp"

using namespace outrider;
using namespace outrider::config;
using namespace outrider::config::test;
using Catch::Contains;

namespace {

struct Running {
  Folder folder;
  std::string file;
  RuntimeContext context;
  Sources sources;

  explicit Running(const std::string& text) : file(folder.write("a.toml", text)) {
    sources.command_line.files = {file};
    const Result<ServerArgs> args = load(sources);
    if (!args) FAIL(args.error().message);
    must(context.publish(std::make_shared<const ServerArgs>(*args), Role::server));
    must(context.advance(Stage::serve));
  }
};

}  // namespace

TEST_CASE("a reload applies the reloadable fields as one override and names those that need a restart") {
  Running run("[spec]\ndraft_tokens = 4\n[memory]\nkv_type = \"f16\"\n");
  Reloader reloader(run.context, run.sources);
  run.folder.write("a.toml", "[spec]\ndraft_tokens = 6\ntree = false\n[memory]\nkv_type = \"f32\"\n");
  const auto report = reloader.reload();
  REQUIRE(report.ok());
  CHECK(report->text() == "reload: applied spec.draft_tokens, spec.tree; changed, and need a restart: memory.kv_type");
  CHECK(run.context.get_spec().draft_tokens == 6);
  CHECK(run.context.get_memory().kv_type == "f16");
  const auto log = run.context.overrides_log();
  REQUIRE(log.size() == 1);
  CHECK(log[0].source == "reload");
  CHECK(log[0].fields.size() == 2);
}

TEST_CASE("a reload with any fault changes nothing and says why") {
  Running run("[spec]\ndraft_tokens = 4\n");
  Reloader reloader(run.context, run.sources);
  const auto before = run.context.snapshot();
  run.folder.write("a.toml", "[spec]\ndraft_tokens = 6\nlaw = \"gredy\"\n");
  const auto report = reloader.reload();
  REQUIRE_FALSE(report.ok());
  CHECK_THAT(report.error().message, Contains("reload: nothing was changed: ") && Contains("did you mean 'greedy'?"));
  CHECK(run.context.snapshot() == before);
}

TEST_CASE("a reload takes a change back, and does not undo what others overrode") {
  Running run("[spec]\ndraft_tokens = 4\n");
  must(run.context.override("operator", {{"spec.planner", false}}));
  Reloader reloader(run.context, run.sources);
  run.folder.write("a.toml", "[spec]\ndraft_tokens = 6\n");
  REQUIRE(reloader.reload().ok());
  run.folder.write("a.toml", "");
  const auto report = reloader.reload();
  REQUIRE(report.ok());
  CHECK(report->applied == std::vector<std::string>{"spec.draft_tokens"});
  CHECK(run.context.get_spec().draft_tokens == 8);
  CHECK_FALSE(run.context.get_spec().planner);
  CHECK(reloader.reload()->text() == "reload: nothing to apply");
}

TEST_CASE("a reload names the drafters' tables and plugin folders that changed, and says no more once they are as before") {
  const std::string before = "[plugins]\npaths = [\"/a\"]\n[drafter.kept]\nx = 1\ny = 2\n[drafter.changed]\nx = 1\n[drafter.gone]\n";
  Running run(before);
  Reloader reloader(run.context, run.sources);
  run.folder.write("a.toml", "[plugins]\npaths = [\"/b\"]\n[drafter.kept]\ny = 2\nx = 1\n[drafter.changed]\nx = 2\n[drafter.new]\n");
  const auto report = reloader.reload();
  REQUIRE(report.ok());
  CHECK(report->restart == std::vector<std::string>{"plugins.paths", "drafter.changed", "drafter.gone", "drafter.new"});
  run.folder.write("a.toml", before);
  CHECK(reloader.reload()->text() == "reload: nothing to apply");
}

TEST_CASE("a reload from a pipe, which is empty by then, changes nothing") {
  Running run("[spec]\ndraft_tokens = 4\n");
  Reloader reloader(run.context, run.sources);
  std::filesystem::remove(run.file);
  REQUIRE(mkfifo(run.file.c_str(), 0600) == 0);
  const auto report = reloader.reload();
  REQUIRE_FALSE(report.ok());
  CHECK_THAT(report.error().message, Contains("reload: nothing was changed: ") && Contains("found a pipe"));
  CHECK(run.context.get_spec().draft_tokens == 4);
}

TEST_CASE("reloads from two threads run one after another") {
  Running run("[spec]\ndraft_tokens = 4\n");
  Reloader reloader(run.context, run.sources);
  run.folder.write("a.toml", "[spec]\ndraft_tokens = 6\n");
  std::atomic<int> applied{0};
  const auto reload = [&] {
    const auto report = reloader.reload();
    if (report.ok()) applied += static_cast<int>(report->applied.size());
  };
  std::thread a(reload), b(reload);
  a.join();
  b.join();
  CHECK(applied == 1);
  CHECK(run.context.overrides_log().size() == 1);
}
