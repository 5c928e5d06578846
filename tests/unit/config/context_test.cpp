// The rules of publishing, overriding and preserving, one test a rule.
#include <optional>
#include <stdexcept>
#include <thread>

#include "kernels/cpu/thread_pool.hpp"
#include "support.hpp"

using namespace outrider;
using namespace outrider::config;
using namespace outrider::config::test;
using Catch::Contains;

namespace {

std::vector<OverrideEntry> one_entry(const std::string& source, FieldId field, FieldValue value) {
  return {{source, {{field, std::move(value)}}}};
}

}  // namespace

TEST_CASE("reading a namespace before anything is published says which one is not published") {
  const RuntimeContext context;
  CHECK_THROWS_WITH(context.get_spec(), "config namespace 'spec' is not published");
  CHECK_THROWS_WITH(context.get_model(), "config namespace 'model' is not published");
  CHECK_THROWS_AS(context.args(), std::logic_error);
  CHECK_FALSE(context.published());
}

TEST_CASE("publish makes every namespace readable and records the role") {
  RuntimeContext context;
  const auto args = make_args({{"spec.draft_tokens", 5}, {"model.path", "m.gguf"}});
  must(context.publish(args, Role::scheduler));
  CHECK(context.get_spec().draft_tokens == 5);
  CHECK(context.get_model().path == "m.gguf");
  CHECK(context.get_device().kind == "cpu");
  CHECK(context.get_exec().attention_backend == "auto");
  CHECK(context.get_schedule().prefill_chunk == 128);
  CHECK(context.get_memory().kv_type == "auto");
  CHECK(context.get_parallel().ranks == 1);
  CHECK(context.get_serving().port == 8080);
  CHECK(context.get_observability().log_level == "warn");
  CHECK(context.role() == Role::scheduler);
  CHECK(context.args() == args);
  CHECK(context.stage() == Stage::start);
}

TEST_CASE("publish with no args is a programming error") {
  RuntimeContext context;
  CHECK_THROWS_AS(context.publish(nullptr, Role::test), std::invalid_argument);
}

TEST_CASE("a publication that fails changes nothing") {
  RuntimeContext context;
  const auto first = make_args({{"spec.draft_tokens", 5}});
  must(context.publish(first, Role::scheduler));
  must(context.override("gate", {{"memory.kv_type", "f32"}}));
  const auto before = context.snapshot();
  const auto bad = make_args({{"parallel.ranks", 4}});  // without a back end for ranks
  const auto refused = context.publish(bad, Role::launcher);
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message, Contains("parallel.ranks is more than 1"));
  CHECK(context.snapshot() == before);
}

TEST_CASE("publishing for fewer ranks than this process's rank is refused") {
  RuntimeContext context;
  must(context.set_parallel({2, 4}));
  const auto refused = context.publish(make_args(), Role::test);
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message, Contains("rank 2"));
  must(context.publish(make_args({{"parallel.ranks", 4}, {"parallel.backend", "mpi"}}), Role::test));
  CHECK(context.parallel() == Topology{2, 4});
}

TEST_CASE("publishing again wins, clears the log, sets the role, and reports every override it drops") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::scheduler));
  must(context.override("a", {{"memory.kv_type", "f32"}}));
  must(context.override("b", {{"spec.tree", false}, {"spec.draft_tokens", 2}}));
  const auto logged = context.overrides_log();
  const Published published = must(context.publish(make_args({{"spec.draft_tokens", 7}}), Role::launcher));
  CHECK(published.dropped == logged);
  CHECK(context.overrides_log().empty());
  CHECK(context.role() == Role::launcher);
  CHECK(context.get_memory().kv_type == "auto");
  CHECK(context.get_spec().draft_tokens == 7);
  CHECK(must(context.publish(make_args(), Role::test)).dropped.empty());
}

TEST_CASE("override writes the namespaces, logs one entry, and leaves the args as they were") {
  RuntimeContext context;
  const auto args = make_args();
  const Namespaces before = args->values();
  must(context.publish(args, Role::test));
  must(context.override("kv gate", {{"memory.kv_type", "f32"}}));
  CHECK(context.get_memory().kv_type == "f32");
  CHECK(context.overrides_log() == one_entry("kv gate", FieldId::kv_type, "f32"));
  CHECK(context.args() == args);
  CHECK(args->values() == before);
}

TEST_CASE("override may span namespaces and takes flat names") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::test));
  must(context.override("both", {{"kv_type", "f16"}, {"spec.draft_tokens", 3}, {"chat_template", "t.jinja"}}));
  CHECK(context.get_memory().kv_type == "f16");
  CHECK(context.get_spec().draft_tokens == 3);
  CHECK(context.get_model().chat_template == "t.jinja");
  CHECK(context.overrides_log().size() == 1);
}

TEST_CASE("override is all or nothing: an unknown name, a wrong type or a value out of range writes none of its fields") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::test));
  const auto before = context.snapshot();
  const auto refuse = [&](const Assignment& bad) {
    const auto refused = context.override("src", {{"memory.kv_type", "f32"}, bad, {"spec.tree", false}});
    REQUIRE_FALSE(refused.ok());
    CHECK(context.snapshot() == before);
    return refused.error().message;
  };
  CHECK_THAT(refuse({"spec.draft_tokns", 4}),
             Contains("override 'src': there is no field 'spec.draft_tokns'; did you mean 'spec.draft_tokens'?"));
  CHECK_THAT(refuse({"sepc.draft_tokens", 4}), Contains("did you mean 'spec.draft_tokens'?"));
  CHECK_THAT(refuse({"spec.draft_tokens", "four"}),
             Contains("expected an integer from 1 to 1024 (tokens) for spec.draft_tokens, found \"four\""));
  CHECK_THAT(refuse({"spec.draft_tokens", 0}), Contains("found 0"));
  CHECK_THAT(refuse({"spec.draft_tokens", 1025}), Contains("found 1025"));
  CHECK_THAT(refuse({"spec.tree", 1}), Contains("expected true or false"));
  CHECK_THAT(refuse({"spec.law", "wild"}), Contains("one of \"auto\", \"greedy\", \"coupled\""));
  CHECK_THAT(refuse({"spec.law", FieldValue()}), Contains("found unset"));
  CHECK_THAT(refuse({"parallel.ranks", 8}), Contains("parallel.backend is \"none\""));
}

TEST_CASE("override without fields does nothing, even when nothing is published") {
  RuntimeContext context;
  must(context.override("nothing", {}));
  must(context.publish(make_args(), Role::test));
  must(context.override("nothing", {}));
  CHECK(context.overrides_log().empty());
}

TEST_CASE("override when nothing is published is an error") {
  RuntimeContext context;
  const auto refused = context.override("early", {{"spec.tree", false}});
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message, Contains("config is not published; cannot override"));
}

TEST_CASE("overriding with an equal value is logged") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::test));
  must(context.override("same", {{"memory.kv_type", "auto"}}));
  CHECK(context.overrides_log() == one_entry("same", FieldId::kv_type, "auto"));
}

TEST_CASE("an optional field can be overridden and made absent again") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::test));
  must(context.override("on", {{"spec.draft_kv_type", "f32"}}));
  CHECK(context.get_spec().draft_kv_type == "f32");
  must(context.override("off", {{"spec.draft_kv_type", FieldValue()}}));
  CHECK_FALSE(context.get_spec().draft_kv_type.has_value());
}

TEST_CASE("an override after the last stage at which a field matters fails and says so") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::test));
  must(context.override("in time", {{"model.path", "a.gguf"}}));
  must(context.advance(Stage::load));
  const auto late = context.override("late", {{"model.path", "b.gguf"}});
  REQUIRE_FALSE(late.ok());
  CHECK_THAT(late.error().message, Contains("model.path has no effect after stage 'start', and the configuration is at stage 'load'"));
  must(context.override("load-time decision", {{"memory.kv_type", "f16"}, {"model.context_length", 2048}}));
  must(context.advance(Stage::serve));
  CHECK_FALSE(context.override("late", {{"memory.kv_type", "f32"}}).ok());
  must(context.override("any time", {{"spec.draft_tokens", 2}}));
  CHECK(context.get_model().path == "a.gguf");
  CHECK(context.get_memory().kv_type == "f16");
}

TEST_CASE("stages only go forward, and publishing begins them anew") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::test));
  must(context.advance(Stage::plan));
  must(context.advance(Stage::plan));
  CHECK_FALSE(context.advance(Stage::load).ok());
  CHECK(context.stage() == Stage::plan);
  must(context.publish(make_args(), Role::test));
  CHECK(context.stage() == Stage::start);
}

TEST_CASE("overrides_log is a copy: changing it does not change the record") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::test));
  must(context.override("a", {{"spec.tree", false}}));
  auto copy = context.overrides_log();
  copy.front().source = "forged";
  copy.clear();
  CHECK(context.overrides_log() == one_entry("a", FieldId::tree, false));
}

TEST_CASE("the log keeps a thousand entries in order") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::test));
  for (int64_t i = 0; i < 1000; ++i) must(context.override(std::to_string(i), {{"spec.draft_tokens", 1 + i % 100}}));
  const auto log = context.overrides_log();
  REQUIRE(log.size() == 1000);
  for (size_t i = 0; i < log.size(); ++i) CHECK(log[i].source == std::to_string(i));
}

TEST_CASE("reset drops everything") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::scheduler));
  must(context.override("a", {{"spec.tree", false}}));
  must(context.set_parallel({0, 2}));
  context.set_capture(true);
  must(context.advance(Stage::serve));
  context.reset();
  CHECK_FALSE(context.published());
  CHECK(context.overrides_log().empty());
  CHECK(context.role() == Role::none);
  CHECK(context.parallel() == Topology{});
  CHECK_FALSE(context.capturing());
  CHECK(context.stage() == Stage::start);
  CHECK_THROWS(context.get_model());
}

TEST_CASE("a rank must lie below the number of ranks") {
  RuntimeContext context;
  CHECK_FALSE(context.set_parallel({2, 2}).ok());
  CHECK_FALSE(context.set_parallel({-1, 2}).ok());
  CHECK_FALSE(context.set_parallel({0, 0}).ok());
  must(context.set_parallel({1, 2}));
  CHECK(context.parallel() == Topology{1, 2});
}

TEST_CASE("a window restores the same args object, each value, and the log entry by entry, after a nested publication") {
  RuntimeContext context;
  const auto target = make_args({{"model.context_length", 0}});
  must(context.publish(target, Role::scheduler));
  must(context.override("kv gate", {{"memory.kv_type", "f32"}}));
  const auto before = context.snapshot();
  {
    const auto window = context.preserve_config();
    CHECK(context.snapshot() == before);  // until something is published inside, the target's is current
    must(context.publish(make_args({{"model.context_length", 4096}}), Role::draft));
    CHECK(context.get_model().context_length == 4096);
    CHECK(context.get_memory().kv_type == "auto");
    CHECK(context.overrides_log().empty());
    CHECK(context.role() == Role::draft);
  }
  CHECK(context.snapshot() == before);  // one pointer: args, values, log, role, parallel, capture, stage
  CHECK(context.args() == target);
  CHECK(context.get_memory().kv_type == "f32");
  CHECK(context.overrides_log() == one_entry("kv gate", FieldId::kv_type, "f32"));
  CHECK(context.role() == Role::scheduler);
}

TEST_CASE("a window undoes an override made inside it without a nested publication") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::test));
  must(context.override("outer", {{"memory.kv_type", "f32"}}));
  {
    const auto window = context.preserve_config();
    must(context.override("inner", {{"memory.kv_type", "f16"}, {"spec.tree", false}}));
    CHECK(context.get_memory().kv_type == "f16");
    CHECK(context.overrides_log().size() == 2);
  }
  CHECK(context.get_memory().kv_type == "f32");
  CHECK(context.get_spec().tree);
  CHECK(context.overrides_log() == one_entry("outer", FieldId::kv_type, "f32"));
}

TEST_CASE("a window restores on an exception, which goes on") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::scheduler));
  const auto before = context.snapshot();
  const auto build = [&] {
    const auto window = context.preserve_config();
    must(context.publish(make_args({{"model.load_format", "gguf"}}), Role::draft));
    throw std::runtime_error("constructor");
  };
  CHECK_THROWS_WITH(build(), "constructor");
  CHECK(context.snapshot() == before);
  CHECK(context.get_model().load_format == "auto");
}

TEST_CASE("a window restores on an early return") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::scheduler));
  const auto before = context.snapshot();
  const auto build = [&]() -> Result<int> {
    const auto window = context.preserve_config();
    must(context.publish(make_args({{"spec.tree", false}}), Role::draft));
    OUTRIDER_CHECK(context.override("bad", {{"spec.draft_tokens", -1}}));
    return 1;
  };
  CHECK_FALSE(build().ok());
  CHECK(context.snapshot() == before);
}

TEST_CASE("a publication inside a window is fully alive: its overrides work and are logged in its own log") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::scheduler));
  must(context.override("target", {{"spec.tree", false}}));
  const auto window = context.preserve_config();
  const Published published = must(context.publish(make_args(), Role::draft));
  CHECK(published.dropped.empty());  // the window brings them back
  CHECK(context.overrides_log().empty());
  must(context.override("draft", {{"memory.kv_type", "f32"}}));
  CHECK(context.get_memory().kv_type == "f32");
  CHECK(context.get_spec().tree);
  CHECK(context.overrides_log() == one_entry("draft", FieldId::kv_type, "f32"));
  CHECK(must(context.publish(make_args(), Role::draft)).dropped.size() == 1);
}

TEST_CASE("publishing in a window reports the overrides that were made inside it, not those that come back") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::scheduler));
  must(context.override("outer", {{"spec.tree", false}}));
  const auto window = context.preserve_config();
  must(context.override("inner", {{"memory.kv_type", "f32"}}));
  CHECK(must(context.publish(make_args(), Role::draft)).dropped == one_entry("inner", FieldId::kv_type, "f32"));
}

TEST_CASE("windows nest: each brings back what it found") {
  RuntimeContext context;
  must(context.publish(make_args({{"spec.draft_tokens", 1}}), Role::scheduler));
  const auto outer = context.snapshot();
  {
    const auto first = context.preserve_config();
    must(context.publish(make_args({{"spec.draft_tokens", 2}}), Role::draft));
    must(context.override("first", {{"spec.tree", false}}));
    const auto middle = context.snapshot();
    {
      const auto second = context.preserve_config();
      must(context.publish(make_args({{"spec.draft_tokens", 3}}), Role::draft));
      CHECK(context.get_spec().draft_tokens == 3);
      CHECK(context.get_spec().tree);
    }
    CHECK(context.snapshot() == middle);
    CHECK(context.get_spec().draft_tokens == 2);
    CHECK_FALSE(context.get_spec().tree);
  }
  CHECK(context.snapshot() == outer);
}

TEST_CASE("a window entered with nothing published returns to nothing published") {
  RuntimeContext context;
  {
    const auto window = context.preserve_config();
    must(context.publish(make_args(), Role::draft));
    CHECK(context.published());
  }
  CHECK_FALSE(context.published());
  CHECK_THROWS_WITH(context.get_spec(), "config namespace 'spec' is not published");
}

TEST_CASE("reset inside a window is undone with it") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::scheduler));
  {
    const auto window = context.preserve_config();
    context.reset();
    CHECK_FALSE(context.published());
  }
  CHECK(context.published());
}

TEST_CASE("another thread never sees a window, and what it writes meanwhile is neither lost nor seen inside") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::scheduler));
  {
    const auto window = context.preserve_config();
    must(context.publish(make_args({{"spec.draft_tokens", 2}}), Role::draft));
    std::thread other([&] {
      CHECK(context.get_spec().draft_tokens == 8);
      must(context.override("other thread", {{"memory.kv_type", "f32"}}));
      CHECK(context.get_memory().kv_type == "f32");
    });
    other.join();
    CHECK(context.get_memory().kv_type == "auto");
    CHECK(context.overrides_log().empty());
  }
  CHECK(context.get_memory().kv_type == "f32");
  CHECK(context.overrides_log() == one_entry("other thread", FieldId::kv_type, "f32"));
}

TEST_CASE("a task that adopts a captured context sees and writes its opener's window, and its own thread's state comes back") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::scheduler));
  const auto window = context.preserve_config();
  must(context.publish(make_args({{"spec.draft_tokens", 2}}), Role::draft));
  std::thread task([&, handle = context.capture()] {
    CHECK(context.get_spec().draft_tokens == 8);
    {
      const auto scope = handle.adopt();
      CHECK(context.get_spec().draft_tokens == 2);
      must(context.override("task", {{"spec.tree", false}}));
      const auto nested = context.preserve_config();
      must(context.override("nested", {{"spec.draft_tokens", 1}}));
    }
    CHECK(context.get_spec().draft_tokens == 8);
    CHECK(context.get_spec().tree);
  });
  task.join();
  CHECK_FALSE(context.get_spec().tree);
  CHECK(context.get_spec().draft_tokens == 2);
  CHECK(context.overrides_log() == one_entry("task", FieldId::tree, false));
}

TEST_CASE("carried tasks of a thread pool see the window of the thread that started them, and other threads still do not") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::scheduler));
  kernels::ThreadPool pool(3);
  std::vector<int64_t> carried(3), bare(3);
  {
    const auto window = context.preserve_config();
    must(context.publish(make_args({{"spec.draft_tokens", 2}}), Role::draft));
    const auto look = [&](std::vector<int64_t>& seen) {
      return [&](const kernels::Worker& worker) { seen[static_cast<size_t>(worker.index)] = context.get_spec().draft_tokens; };
    };
    pool.run(context.carry(look(carried)));
    pool.run(look(bare));
  }
  CHECK(carried == std::vector<int64_t>{2, 2, 2});
  CHECK(bare == std::vector<int64_t>{2, 8, 8});  // the pool's first worker is the thread that calls run()
  pool.run([&](const kernels::Worker& worker) { carried[static_cast<size_t>(worker.index)] = context.get_spec().draft_tokens; });
  CHECK(carried == std::vector<int64_t>{8, 8, 8});
  const auto answer = context.carry([](int value) { return value + 1; });
  CHECK(answer(1) == 2);
}

TEST_CASE("a captured context outlives its window") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::scheduler));
  std::optional<ContextHandle> handle;
  {
    const auto window = context.preserve_config();
    must(context.publish(make_args({{"spec.draft_tokens", 2}}), Role::draft));
    handle = context.capture();
  }
  {
    const auto scope = handle->adopt();
    CHECK(context.get_spec().draft_tokens == 2);
  }
  CHECK(context.get_spec().draft_tokens == 8);
  CHECK_THROWS_AS(ContextHandle().adopt(), std::logic_error);
}

TEST_CASE("two contexts in one thread do not disturb each other") {
  RuntimeContext a, b;
  must(a.publish(make_args({{"spec.draft_tokens", 1}}), Role::test));
  must(b.publish(make_args({{"spec.draft_tokens", 2}}), Role::test));
  for (int i = 0; i < 3; ++i) {
    const auto window = a.preserve_config();
    must(a.override("w", {{"spec.draft_tokens", 3}}));
    CHECK(a.get_spec().draft_tokens == 3);
    CHECK(b.get_spec().draft_tokens == 2);
  }
  CHECK(a.get_spec().draft_tokens == 1);
  CHECK(b.get_spec().draft_tokens == 2);
}

TEST_CASE("a reference from an accessor stays good through the next fifteen accessor calls, whatever is written between") {
  RuntimeContext context;
  must(context.publish(make_args({{"model.path", "a path that is too long for a small string"}}), Role::test));
  const ModelConfig& model = context.get_model();
  for (int64_t i = 1; i <= 15; ++i) {
    must(context.override("x", {{"model.path", "another path that is too long for a small string"}, {"spec.draft_tokens", i}}));
    CHECK(context.get_spec().draft_tokens == i);
    CHECK(model.path == "a path that is too long for a small string");
  }
}

TEST_CASE("a snapshot stays as it was while the configuration moves on") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::test));
  const auto snapshot = context.snapshot();
  for (int i = 0; i < 100; ++i) must(context.override("x", {{"spec.tree", false}}));
  CHECK(snapshot->namespaces->spec.tree);
  CHECK(snapshot->log.empty());
}
