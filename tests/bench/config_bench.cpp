// What the configuration costs where it is used: reading a field in a step loop against reading a plain struct, opening and closing a
// window, overriding three fields with a thousand entries in the log, and loading a 500-line file. Takes about a second.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/log.hpp"
#include "config/load.hpp"
#include "config/runtime_context.hpp"

namespace {

using namespace outrider;
using namespace outrider::config;
using Clock = std::chrono::steady_clock;

// Nanoseconds a call, of the quickest of `rounds` rounds: other programs share the machine and can only add time.
template <class F>
double nanoseconds(int rounds, int64_t calls, F&& f) {
  double best = 1e18;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = Clock::now();
    for (int64_t i = 0; i < calls; ++i) f(i);
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / static_cast<double>(calls));
  }
  return best;
}

// Keeps the compiler from moving a read out of the loop.
template <class T>
void use(const T& value) {
  asm volatile("" : : "r"(value) : "memory");
}

bool good(const Result<void>& result) {
  if (!result) std::fprintf(stderr, "%s\n", result.error().message.c_str());
  return result.ok();
}

}  // namespace

int main() {
  outrider::log::set_level("off");
  RuntimeContext context;
  if (!context.publish(std::make_shared<const ServerArgs>(), Role::test).ok()) return 1;

  SpecConfig plain;
  const SpecConfig* pointer = &plain;
  use(pointer);
  const double struct_read = nanoseconds(20, 1000000, [&](int64_t) { use(pointer->draft_tokens); });
  const double field_read = nanoseconds(20, 1000000, [&](int64_t) { use(context.get_spec().draft_tokens); });
  double window_read = 0;
  {
    const auto window = context.preserve_config();
    window_read = nanoseconds(20, 1000000, [&](int64_t) { use(context.get_spec().draft_tokens); });
  }
  std::printf("read a field      %8.2f ns   (plain struct %.2f ns, in a window %.2f ns)\n", field_read, struct_read, window_read);

  const double window = nanoseconds(20, 10000, [&](int64_t) { const auto scope = context.preserve_config(); });
  std::printf("window            %8.1f ns   open and close\n", window);

  for (int i = 0; i < 1000; ++i) {
    if (!good(context.override("fill", {{"spec.draft_tokens", 4}}))) return 1;
  }
  double override = 1e18;  // a few at a time, so that the log stays near a thousand entries
  for (int round = 0; round < 20; ++round) {
    const auto scope = context.preserve_config();
    override = std::min(
        override, nanoseconds(1, 64, [&](int64_t i) {
          good(context.override("three fields", {{"spec.draft_tokens", 1 + i % 8}, {"memory.kv_type", "f16"}, {"spec.tree", i % 2 == 0}}));
        }));
  }
  std::printf("override 3 fields %8.1f ns   at 1000 log entries\n", override);

  const std::filesystem::path file = std::filesystem::temp_directory_path() / "outrider-config-bench.toml";
  {
    std::ofstream out(file);
    for (int i = 0; i < 50; ++i) {
      out << "[drafter.d" << i << "]\nlibrary = \"d.so\"\n";
      for (int k = 0; k < 8; ++k) out << "option_" << k << " = " << k << "\n";
    }
  }
  const Sources sources{.command_line = {.files = {file.string()}}};
  const double load_time = nanoseconds(10, 1, [&](int64_t) {
    if (!load(sources).ok()) std::fputs("the file does not load\n", stderr);
  });
  std::filesystem::remove(file);
  std::printf("load 500 lines    %8.3f ms\n", load_time / 1e6);
}
