// The state-coverage guard: every member of the configuration state is changed inside a window, and shown to be restored.
#include <functional>

#include "support.hpp"

using namespace outrider;
using namespace outrider::config;
using namespace outrider::config::test;

TEST_CASE("preserve_config restores every member of the configuration state") {
  RuntimeContext context;
  must(context.publish(make_args({{"parallel.ranks", 2}, {"parallel.backend", "mpi"}}), Role::scheduler));
  must(context.override("outer", {{"memory.kv_type", "f32"}}));
  const ConfigState before = *context.snapshot();
  ConfigState inside;
  {
    const auto window = context.preserve_config();
    must(context.publish(make_args({{"spec.draft_tokens", 2}, {"parallel.ranks", 4}, {"parallel.backend", "mpi"}}), Role::draft));
    must(context.override("inner", {{"spec.tree", false}}));
    must(context.override("inner", {{"spec.planner", false}}));
    must(context.set_parallel({1, 4}));
    context.set_capture(true);
    must(context.advance(Stage::plan));
    inside = *context.snapshot();
  }
  const ConfigState after = *context.snapshot();

  // A member added to ConfigState stops this from compiling: add it here and change it in the window above, so that its restoration
  // is shown.
  const auto& [args, namespaces, log, role, parallel, capture, stage] = before;
  const auto& [args_in, namespaces_in, log_in, role_in, parallel_in, capture_in, stage_in] = inside;
  const auto& [args_out, namespaces_out, log_out, role_out, parallel_out, capture_out, stage_out] = after;

  CHECK(args != args_in);
  CHECK(*namespaces != *namespaces_in);
  CHECK(log.entries() != log_in.entries());
  CHECK(role != role_in);
  CHECK_FALSE(parallel == parallel_in);
  CHECK(capture != capture_in);
  CHECK(stage != stage_in);

  CHECK(args == args_out);
  CHECK(namespaces == namespaces_out);
  CHECK(log.entries() == log_out.entries());
  CHECK(role == role_out);
  CHECK(parallel == parallel_out);
  CHECK(capture == capture_out);
  CHECK(stage == stage_out);
}
