#include "config/draft_copy.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "base/log.hpp"

namespace outrider::config {
namespace {

Origin step(std::string what) { return {Origin::Kind::draft_copy, std::move(what)}; }

Result<void> check_target(DraftTarget target) {
  if (target.context_length >= 1) return {};
  return Error{"draft configuration: expected the target's context length, found " + std::to_string(target.context_length)};
}

Result<std::shared_ptr<const ConfigState>> current(const RuntimeContext& context) {
  std::shared_ptr<const ConfigState> state = context.snapshot();
  if (state->args == nullptr) return Error{"draft configuration: nothing is published; publish the target's configuration first"};
  return state;
}

Result<ServerArgs> effective(const ConfigState& state) { return replay(*state.args, state.log.entries()); }

// Step 4. Absent stays absent: without a configured format the copy keeps what the replay gave it.
void add_load_format(std::vector<Write>& writes, const SpecConfig& spec) {
  if (!spec.draft_load_format) return;
  const std::string format = resolve_load_format(*spec.draft_load_format, spec.draft_model_path.value_or(""));
  const bool resolved = format != *spec.draft_load_format;
  writes.emplace_back(step(resolved ? "spec.draft_load_format, told from spec.draft_model_path" : "spec.draft_load_format"),
                      "model.load_format", format);
}

// Step 5.
void add_own_fields(std::vector<Write>& writes, const SpecConfig& spec) {
  if (spec.draft_quantization) writes.emplace_back(step("spec.draft_quantization"), "model.quantization", *spec.draft_quantization);
  if (spec.draft_device) writes.emplace_back(step("spec.draft_device"), "device.kind", *spec.draft_device);
  if (spec.draft_attention_backend) {
    const Origin origin = step("spec.draft_attention_backend");
    writes.emplace_back(origin, "exec.attention_backend", *spec.draft_attention_backend);
    // The target's back ends for one phase alone would go before it, and the setting would have no effect.
    writes.emplace_back(origin, "exec.prefill_attention_backend", FieldValue());
    writes.emplace_back(origin, "exec.decode_attention_backend", FieldValue());
  }
  if (spec.draft_kv_type) writes.emplace_back(step("spec.draft_kv_type"), "memory.kv_type", *spec.draft_kv_type);
}

bool supports(const DraftRunnerOptions& options, const std::string& backend) {
  return options.supported.empty() || std::find(options.supported.begin(), options.supported.end(), backend) != options.supported.end();
}

std::string runner_backend(const Namespaces& values, const DraftRunnerOptions& options) {
  const ExecConfig& exec = values.exec;
  std::string backend = options.attention_backend             ? *options.attention_backend
                        : values.spec.draft_attention_backend ? *values.spec.draft_attention_backend
                                                              : exec.prefill_attention_backend.value_or(exec.attention_backend);
  if (backend == "auto") return options.fallback;
  if (supports(options, backend)) return backend;
  log::warn("the draft model cannot use attention back end '{}'; using '{}'", backend, options.fallback);
  return options.fallback;
}

std::vector<Assignment> runner_overrides(const Namespaces& values, DraftTarget target, const DraftRunnerOptions& options) {
  std::vector<Assignment> fields{
      {"model.skip_tokenizer", true},
      {"exec.attention_backend", runner_backend(values, options)},
      {"exec.prefill_attention_backend", FieldValue()},
      {"exec.decode_attention_backend", FieldValue()},
      {"model.context_length", target.context_length},
      {"schedule.disable_chunked_prefix_cache", values.schedule.disable_chunked_prefix_cache},
  };
  std::vector<Write> load_format;
  add_load_format(load_format, values.spec);
  for (Write& one : load_format) fields.push_back({std::move(one.field), std::move(one.value)});
  return fields;
}

}  // namespace

Result<ServerArgs> replay(const ServerArgs& args, const std::vector<OverrideEntry>& log) {
  std::vector<Write> writes;
  for (const OverrideEntry& entry : log) {
    for (const auto& [id, value] : entry.fields) writes.emplace_back(Origin{Origin::Kind::override_, entry.source}, field(id).path, value);
  }
  return args.derive(writes);
}

Result<std::shared_ptr<const ServerArgs>> draft_args_copy(const RuntimeContext& context, DraftTarget target) {
  OUTRIDER_CHECK(check_target(target));
  OUTRIDER_TRY(const std::shared_ptr<const ConfigState> state, current(context));
  OUTRIDER_TRY(const ServerArgs replayed, effective(*state));  // steps 1 and 2
  std::vector<Write> writes;
  writes.emplace_back(step("the target's context length"), "model.context_length", target.context_length);  // step 3
  add_load_format(writes, state->namespaces->spec);
  add_own_fields(writes, state->namespaces->spec);
  OUTRIDER_TRY(ServerArgs copy, replayed.derive(writes));
  if (state->namespaces->spec.draft_load_format) log::info("using draft load format: {}", copy.values().model.load_format);
  return std::make_shared<const ServerArgs>(std::move(copy));
}

std::vector<Assignment> draft_args_overrides(const RuntimeContext& context, DraftTarget target, const DraftRunnerOptions& options) {
  const auto state = context.snapshot();
  if (state->namespaces == nullptr) throw std::logic_error("config namespace 'spec' is not published");
  return runner_overrides(*state->namespaces, target, options);
}

Result<std::shared_ptr<const ServerArgs>> draft_runner_args(const RuntimeContext& context, DraftTarget target,
                                                            const DraftRunnerOptions& options) {
  OUTRIDER_CHECK(check_target(target));
  OUTRIDER_TRY(const std::shared_ptr<const ConfigState> state, current(context));
  OUTRIDER_TRY(const ServerArgs replayed, effective(*state));
  std::vector<Write> writes;
  for (Assignment& one : runner_overrides(*state->namespaces, target, options)) {
    writes.emplace_back(step("nested runner"), std::move(one.field), std::move(one.value));
  }
  OUTRIDER_TRY(ServerArgs copy, replayed.derive(writes));
  return std::make_shared<const ServerArgs>(std::move(copy));
}

std::string resolve_load_format(std::string_view format, const std::string& path) {
  if (format != "auto" || path.empty()) return std::string(format);
  const std::filesystem::path file(path);
  if (file.extension() == ".gguf") return "gguf";
  if (file.extension() == ".safetensors") return "safetensors";
  std::error_code error;
  for (std::filesystem::directory_iterator entry(file, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".safetensors") return "safetensors";
  }
  return "auto";
}

}  // namespace outrider::config
