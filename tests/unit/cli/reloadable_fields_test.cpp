// Every field marked reloadable takes effect in what is running already. One probe a field; a reloadable field without a probe fails.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "base/log.hpp"
#include "cli/hangup.hpp"
#include "contract/support.hpp"
#include "scheduler/runtime.hpp"
#include "support/fake_drafter.hpp"
#include "support/tiny_model.hpp"

using namespace outrider;

namespace {

// An engine that follows a published configuration, and a drafter that remembers what it was asked for.
struct Running {
  config::RuntimeContext context;
  kernels::ThreadPool pool{1};
  std::unique_ptr<model::Transformer> target = tests::tiny_model(pool, kernels::best_isa());
  std::unique_ptr<text::Tokenizer> tokenizer = tests::tiny_tokenizer();
  std::unique_ptr<scheduler::Engine> engine;
  int32_t nodes = 0, depth = 0;  // of the last proposal asked for; 0: none was
  uint64_t request = 0;

  explicit Running(const std::vector<config::Assignment>& fields) {
    std::vector<config::Write> writes;
    for (const config::Assignment& one : fields) writes.emplace_back(config::Origin{}, one.field, one.value);
    auto args = config::ServerArgs().derive(writes);
    REQUIRE(args.ok());
    REQUIRE(context.publish(std::make_shared<const config::ServerArgs>(*args), config::Role::test).ok());
    REQUIRE(scheduler::record_load_decisions(context, target->architecture().context_length).ok());
    engine = std::make_unique<scheduler::Engine>(*target, *tokenizer, scheduler::engine_options(context));
    const auto wrong = tests::random_tree(48);
    auto drafter = std::make_unique<tests::FakeDrafter>([this, wrong](drafting::DraftRequest& asked, std::mt19937& random) {
      nodes = asked.max_nodes, depth = asked.max_depth;
      wrong(asked, random);
    });
    REQUIRE(engine->add_drafter("fake", std::move(drafter)).ok());
    REQUIRE(context.advance(config::Stage::serve).ok());
  }

  void reload(const std::string& field, const config::FieldValue& value) {
    const auto written = context.override("reload", {{field, value}});
    INFO((written.ok() ? "" : written.error().message));
    REQUIRE(written.ok());
  }
  Result<uint64_t> submit(size_t prompt_tokens, int32_t max_tokens) {
    scheduler::Request wanted;
    wanted.prompt.assign(prompt_tokens, 3);
    wanted.sampling.max_tokens = max_tokens;
    wanted.sampling.ignore_eos = true;
    wanted.on_output = [this](const scheduler::StreamEvent&) { ++outputs; };
    return engine->submit(std::move(wanted));
  }
  void start(int32_t max_tokens = 400) {
    REQUIRE(submit(4, max_tokens).ok());
    step(2);
  }
  void step(int count = 1) {
    for (int i = 0; i < count; ++i) {
      nodes = depth = 0;
      engine->step();
    }
  }
  int outputs = 0;
};

void probe_prefill_chunk() {
  Running run({{"schedule.prefill_chunk", 10}});
  REQUIRE(run.submit(100, 5).ok());
  run.step(2);
  CHECK(run.outputs == 0);  // 20 of 100 are read
  run.reload("schedule.prefill_chunk", 128);
  run.step();
  CHECK(run.outputs == 1);  // the other 80 at once
}

void probe_queue_capacity() {
  Running run({});
  REQUIRE(run.submit(4, 5).ok());
  REQUIRE(run.submit(4, 5).ok());
  run.reload("schedule.queue_capacity", 2);
  CHECK_FALSE(run.submit(4, 5).ok());
  run.reload("schedule.queue_capacity", 3);
  CHECK(run.submit(4, 5).ok());
}

void probe_draft_tokens() {
  Running run({{"spec.planner", false}});
  run.start();
  CHECK(run.nodes == 8);
  for (const int32_t wanted : {3, 40, 1}) {
    run.reload("spec.draft_tokens", wanted);
    run.step();
    CHECK(run.nodes == wanted);
    CHECK(run.depth == wanted);  // draft_depth 0: as many
  }
}

void probe_draft_depth() {
  Running run({{"spec.planner", false}});
  run.start();
  CHECK(run.depth == 8);
  for (const int32_t wanted : {2, 5}) {
    run.reload("spec.draft_depth", wanted);
    run.step();
    CHECK(run.depth == wanted);
    CHECK(run.nodes == 8);
  }
}

void probe_planner() {
  Running run({{"spec.planner", false}});
  run.start();
  CHECK(run.nodes == 8);
  CHECK(run.engine->cost_curve().size() == 2);  // nothing was measured
  run.reload("spec.planner", true);
  run.step(60);
  CHECK(run.engine->cost_curve().size() > 2);
  CHECK(run.nodes < 8);  // drafts that are nearly always wrong do not pay
  run.reload("spec.planner", false);
  run.step();
  CHECK(run.nodes == 8);
}

// A drafter behind the guard, asked with a fresh token each round.
struct Guarded {
  contract::Session session;
  std::vector<int32_t> tokens{1, 2, 3};

  explicit Guarded(contract::Setup setup) : session(setup) {
    INFO(contract::refusal(session));
    REQUIRE(session.drafter.ok());
    REQUIRE(session->open(1, tokens, 0, 0, 1000));
  }
  uint64_t faults_in(int rounds) {
    const uint64_t before = session->report().faults;
    for (int i = 0; i < rounds; ++i) {
      tokens.push_back(4);
      session.propose(1, tokens, 1, 16, 8);
    }
    return session->report().faults - before;
  }
  void reload(const std::string& field, const config::FieldValue& value) {
    REQUIRE(session.context.override("reload", {{field, value}}).ok());
  }
};

contract::Setup with_strikes(contract::Setup setup, int64_t strikes) {
  setup.fields.push_back({"spec.breaker_strikes", strikes});
  return setup;
}

void probe_tree() {
  Guarded run(with_strikes(contract::misbehaving("random_tree"), 1000));
  CHECK(run.faults_in(20) == 0);
  run.reload("spec.tree", false);
  CHECK(run.faults_in(20) > 0);  // trees nevertheless
  CHECK_FALSE(run.session->proposes_trees());
  run.reload("spec.tree", true);
  CHECK(run.faults_in(20) == 0);
}

void probe_deadline() {
  Guarded run(with_strikes(contract::misbehaving("slow"), 1000));  // 30 ms
  CHECK(run.faults_in(2) == 2);
  run.reload("spec.proposal_deadline_us", 30'000'000);
  CHECK(run.faults_in(2) == 0);
  run.reload("spec.proposal_deadline_us", 1000);
  CHECK(run.faults_in(2) == 2);
}

void probe_strikes() {
  Guarded run(with_strikes(contract::misbehaving("out_of_vocabulary"), 1000));
  CHECK(run.faults_in(10) == 10);
  CHECK_FALSE(run.session->report().breaker_open);
  run.reload("spec.breaker_strikes", 12);
  CHECK(run.faults_in(1) == 1);
  CHECK_FALSE(run.session->report().breaker_open);
  CHECK(run.faults_in(1) == 1);
  CHECK(run.session->report().breaker_open);
}

void probe_log_level() {
  const auto level = spdlog::get_level();
  const cli::HangupHold hold;
  const contract::TemporaryFolder folder;
  config::Sources sources;
  sources.command_line.files = {folder.write("a.toml", "").string()};
  config::RuntimeContext context;
  REQUIRE(context.publish(std::make_shared<const config::ServerArgs>(*config::load(sources)), config::Role::test).ok());
  {
    const cli::ReloadOnHangup reloads(hold, context, sources);
    folder.write("a.toml", "[observability]\nlog_level = \"error\"\n");
    kill(getpid(), SIGHUP);
    for (int i = 0; i < 2000 && spdlog::get_level() != spdlog::level::err; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(spdlog::get_level() == spdlog::level::err);
  spdlog::set_level(level);
}

const std::map<std::string, void (*)()> kProbes = {
    {"schedule.prefill_chunk", probe_prefill_chunk},
    {"schedule.queue_capacity", probe_queue_capacity},
    {"spec.draft_tokens", probe_draft_tokens},
    {"spec.draft_depth", probe_draft_depth},
    {"spec.tree", probe_tree},
    {"spec.planner", probe_planner},
    {"spec.proposal_deadline_us", probe_deadline},
    {"spec.breaker_strikes", probe_strikes},
    {"observability.log_level", probe_log_level},
};

// Read by no one yet. The server is to ask for it at each request, and then gets a probe.
const std::set<std::string> kWithoutReader = {"serving.api_key"};

}  // namespace

TEST_CASE("every reloadable field takes effect while the program runs") {
  for (const config::FieldInfo& info : config::fields()) {
    if (!info.attributes.reloadable || kWithoutReader.contains(info.path)) {
      CHECK_FALSE(kProbes.contains(info.path));
      continue;
    }
    INFO(info.path << " is marked reloadable: show in this file that it takes effect");
    REQUIRE(kProbes.contains(info.path));
  }
  for (const auto& [path, probe] : kProbes) {
    DYNAMIC_SECTION(path) { probe(); }
  }
}

TEST_CASE("a draft that grew wider while a request runs stays within the pages the request was given") {
  Running run({{"spec.planner", false}, {"spec.draft_tokens", 1}});
  const auto id = run.submit(4, 60);
  REQUIRE(id.ok());
  run.step(2);
  run.reload("spec.draft_tokens", 200);
  while (!run.engine->finished(*id)) run.step();  // an assertion or the address sanitizer would tell
  const auto wide = run.engine->take(*id);
  Running plain({});
  scheduler::Request same;
  same.prompt.assign(4, 3);
  same.sampling.max_tokens = 60;
  same.sampling.ignore_eos = true;
  same.drafter = "none";
  CHECK(wide.front().token_ids == plain.engine->complete(std::move(same))->front().token_ids);
}
