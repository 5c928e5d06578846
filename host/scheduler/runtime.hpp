// Everything a command needs, built from the published configuration: the model file's tokenizer, chat template and weights, the
// engine, and the drafter that [spec] names, handed over as design/config-lifecycle asks.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/runtime_context.hpp"
#include "scheduler/engine.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace outrider::scheduler {

struct Runtime {
  std::string model_path;
  std::string model_name;                             // general.name, or the file's stem
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::optional<text::ChatTemplate> chat_template;    // absent: the model has none (a base model)
  std::string chat_template_problem;                  // why there is none though the model names one; else empty
  std::unique_ptr<kernels::ThreadPool> pool;
  std::unique_ptr<model::Transformer> target;
  std::unique_ptr<Engine> engine;
  std::vector<std::string> refusals;                  // drafters asked for and refused: file, reason, remedy
};

// `drafters`: names to load besides [spec] algorithm (for a bench over several). A refused drafter is reported in `refusals`, or is an
// error when [spec] require_drafter is set. [model] path may be a file or the name of one in models_folder().
struct RuntimeOptions {
  std::vector<std::string> drafters;
  bool engine = true;  // false: tokenizer and template alone, no weights
};
Result<Runtime> make_runtime(config::RuntimeContext& context, const RuntimeOptions& options);

// Writes down what only the target's file decides (context length, KV type) as the override "target load", so that every later reader, the
// draft copy included, sees it. `trained_context`: tokens the model was made for.
Result<void> record_load_decisions(config::RuntimeContext& context, int32_t trained_context);

// The engine's options as the configuration has them; those that may be reloaded follow `context`, which must outlive the engine.
EngineOptions engine_options(const config::RuntimeContext& context);

// Where scripts/fetch-model puts models: $OUTRIDER_MODELS, else ~/.cache/outrider/models.
std::filesystem::path models_folder();

// The file a model's name or path stands for. Errors name what was looked for, where, and what there is.
Result<std::string> find_model(const std::string& name_or_path);

}  // namespace outrider::scheduler
