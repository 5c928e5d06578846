// The configuration a draft is built under: one copy of what is in force for the target, with the draft's own values. Pure functions
// of the current state; nothing published and no args object changes. Every changed value says which step set it.
//
// Steps, low to high: the target's resolved args; the overrides log replayed; context_length := the target's; load_format :=
// spec.draft_load_format, only when configured ("auto" is told from the draft's own path); quantization, device, attention back
// end and KV type from spec.draft_*, each only when configured.
//
//   auto copy = draft_args_copy(context, {.context_length = 4096});          Result<std::shared_ptr<const ServerArgs>>
//   auto window = context.preserve_config();  context.publish(*copy, Role::draft);
//   // a nested runner, inside that window:
//   auto second = draft_runner_args(context, target, {.supported = {"cpu"}});  auto inner = context.preserve_config();  …
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/runtime_context.hpp"

namespace outrider::config {

struct DraftTarget {
  int64_t context_length;  // tokens, of the target model as loaded; at least 1
};

// The copy. An error when the target's context length is not positive or nothing is published.
Result<std::shared_ptr<const ServerArgs>> draft_args_copy(const RuntimeContext& context, DraftTarget target);

struct DraftRunnerOptions {
  std::optional<std::string> attention_backend = {};  // the caller's choice, before any configured one
  std::vector<std::string> supported = {};            // back ends the runner has; empty: any
  std::string fallback = "auto";                      // used, with a warning, in place of an unsupported one
};

// What a drafter that builds a nested model runner writes on its second copy: no tokenizer, one attention back end for prefill and
// decode, the context length, the current disable_chunked_prefix_cache, and the draft load format when configured.
std::vector<Assignment> draft_args_overrides(const RuntimeContext& context, DraftTarget target, const DraftRunnerOptions& options);

// The second copy: the current args with their log replayed and draft_args_overrides() applied.
Result<std::shared_ptr<const ServerArgs>> draft_runner_args(const RuntimeContext& context, DraftTarget target,
                                                            const DraftRunnerOptions& options);

// args with a log replayed, each write's source kept.
Result<ServerArgs> replay(const ServerArgs& args, const std::vector<OverrideEntry>& log);

// What "auto" stands for, told from a path: "gguf" for *.gguf, "safetensors" for *.safetensors or a folder that holds one, else
// "auto" (the loader looks into the file). Any other format stands for itself.
std::string resolve_load_format(std::string_view format, const std::string& path);

}  // namespace outrider::config
