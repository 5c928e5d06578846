// Readers, writers and windows at the same time. Run it in the thread-sanitizer build too.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "config/draft_copy.hpp"
#include "support.hpp"

using namespace outrider;
using namespace outrider::config;
using namespace outrider::config::test;

TEST_CASE("with readers and writers running, no reader sees a window's value, no override is lost, and the log is complete") {
  const char* wanted = std::getenv("OUTRIDER_LONG");
  const bool all = wanted != nullptr && *wanted != '\0' && *wanted != '0';
  const int windows = all ? 10000 : 1000;
  const auto least = std::chrono::seconds(all ? 20 : 0);
  constexpr int kReaders = 8, kWriters = 2;
  constexpr int64_t kWrites = 500;

  RuntimeContext context;
  must(context.publish(make_args({{"spec.draft_load_format", "gguf"}, {"model.name", "target"}, {"spec.breaker_strikes", 1}}),
                       Role::server));
  std::atomic<bool> stop{false};
  std::atomic<int64_t> leaks{0}, refused{0}, reads{0};
  std::vector<std::thread> readers, writers;

  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] {
      int64_t last_a = 0, count = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        const ModelConfig& model = context.get_model();
        const SpecConfig& spec = context.get_spec();
        if (model.name != "target" || model.load_format != "auto" || model.context_length != 0) ++leaks;
        if (spec.breaker_strikes < last_a) ++leaks;  // the writer only counts up
        last_a = spec.breaker_strikes;
        if (++count % 256 == 0) std::this_thread::yield();
      }
      reads += count;
    });
  }
  const FieldId counters[kWriters] = {FieldId::breaker_strikes, FieldId::proposal_deadline_us};
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] {
      for (int64_t value = 1; value <= kWrites; ++value) {
        if (!context.override("writer " + std::to_string(i), {{field(counters[i]).path, value}}).ok()) ++refused;
        if (value % 16 == 0) std::this_thread::yield();
      }
    });
  }
  std::thread opener([&] {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < windows || std::chrono::steady_clock::now() - start < least; ++i) {
      try {
        const auto copy = draft_args_copy(context, {4096});
        const auto window = context.preserve_config();
        if (!copy.ok() || !context.publish(*copy, Role::draft).ok()) ++refused;
        if (!context.override("draft", {{"model.name", "draft"}}).ok()) ++refused;
        if (context.get_model().name != "draft" || context.get_model().load_format != "gguf" || context.get_model().context_length != 4096)
          ++leaks;
        if (context.overrides_log().size() != 1) ++leaks;
        if (i % 8 == 0) {
          std::thread task([&, handle = context.capture()] {
            const auto scope = handle.adopt();
            if (context.get_model().name != "draft") ++leaks;
          });
          task.join();
        }
        if (i % 3 == 0) throw std::runtime_error("building failed");
      } catch (const std::runtime_error&) {
      }
      if (context.get_model().name != "target" || context.role() != Role::server) ++leaks;
    }
  });
  for (auto& thread : writers) thread.join();
  opener.join();
  stop = true;
  for (auto& thread : readers) thread.join();

  CHECK(leaks == 0);
  CHECK(refused == 0);
  CHECK(reads > 0);
  CHECK(context.get_spec().breaker_strikes == kWrites);
  CHECK(context.get_spec().proposal_deadline_us == kWrites);
  const auto log = context.overrides_log();
  CHECK(log.size() == kWriters * kWrites);
  int64_t next[kWriters] = {1, 1};  // a sequential model of each writer: its entries in order, none missing
  for (const OverrideEntry& entry : log) {
    const size_t writer = entry.source == "writer 0" ? 0 : 1;
    REQUIRE(entry.fields.size() == 1);
    CHECK(entry.fields[0].first == counters[writer]);
    CHECK(entry.fields[0].second == FieldValue(next[writer]));
    ++next[writer];
  }
}
