// SIGHUP to reload, in this process. The file is written, the signal sent, and the published configuration watched.
#include "cli/hangup.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "contract/support.hpp"

using namespace outrider;
using cli::HangupHold;
using cli::ReloadOnHangup;

namespace {

struct Program {
  contract::TemporaryFolder folder;
  config::RuntimeContext context;
  config::Sources sources;

  Program() {
    write("[spec]\ndraft_tokens = 4\n");
    sources.command_line.files = {(folder.path() / "a.toml").string()};
    const auto args = config::load(sources);
    REQUIRE(args.ok());
    REQUIRE(context.publish(std::make_shared<const config::ServerArgs>(*args), config::Role::server).ok());
    REQUIRE(context.advance(config::Stage::serve).ok());
  }
  void write(const std::string& text) const { folder.write("a.toml", text); }
  void write_draft_tokens(int64_t count) const { write("[spec]\ndraft_tokens = " + std::to_string(count) + "\n"); }

  [[nodiscard]] bool comes_to(int64_t draft_tokens) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (context.get_spec().draft_tokens != draft_tokens) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
};

void hang_up() { kill(getpid(), SIGHUP); }

}  // namespace

TEST_CASE("SIGHUP reloads, also one that came before the reloader was there") {
  Program program;
  const HangupHold hold;
  program.write_draft_tokens(5);
  hang_up();
  CHECK(program.context.get_spec().draft_tokens == 4);
  const ReloadOnHangup reloads(hold, program.context, program.sources);
  CHECK(program.comes_to(5));
  program.write_draft_tokens(6);
  hang_up();
  CHECK(program.comes_to(6));
}

TEST_CASE("however fast SIGHUPs follow each other, the file as of the last one is what counts") {
  Program program;
  const HangupHold hold;
  const ReloadOnHangup reloads(hold, program.context, program.sources);
  for (int64_t round = 0; round < 200; ++round) {
    program.write_draft_tokens(10 + round);
    hang_up();
  }
  CHECK(program.comes_to(209));
}

TEST_CASE("a faulty file changes nothing and the next SIGHUP reloads again") {
  Program program;
  const HangupHold hold;
  const ReloadOnHangup reloads(hold, program.context, program.sources);
  program.write("[spec]\ndraft_tokens = 9\nno_such_key = 1\n");
  hang_up();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(program.context.overrides_log().empty());
  program.write_draft_tokens(7);
  hang_up();
  CHECK(program.comes_to(7));
}

TEST_CASE("SIGHUP reloads under nohup, which ignores the signal") {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    Program program;
    const HangupHold hold;
    const ReloadOnHangup reloads(hold, program.context, program.sources);
    program.write_draft_tokens(8);
    hang_up();
    CHECK(program.comes_to(8));
  }
  std::signal(SIGHUP, before);
}

TEST_CASE("a SIGHUP that nobody took does not end the program afterwards") {
  {
    const HangupHold hold;
    hang_up();
    hang_up();
  }
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  CHECK(sigismember(&blocked, SIGHUP) == 0);  // as before, and this line was reached
}
