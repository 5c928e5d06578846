#include "scheduler/runtime.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "base/log.hpp"
#include "drafting/draft_host.hpp"
#include "formats/gguf.hpp"
#include "model/repack_cache.hpp"
#include "text/tokenizer_data.hpp"

namespace outrider::scheduler {
namespace {

namespace fs = std::filesystem;

// Settings that name something this build does not have are refused, never ignored.
Result<void> check_supported(const config::RuntimeContext& context) {
  const auto refuse = [](const std::string& field, const std::string& expected, const std::string& found) {
    return Error{field + ": expected " + expected + ", found '" + found + "', which this build does not offer; change the setting"};
  };
  if (context.get_device().kind != "cpu") return refuse("device.kind", "cpu", context.get_device().kind);
  const auto& model = context.get_model();
  if (model.load_format != "auto" && model.load_format != "gguf") return refuse("model.load_format", "auto or gguf", model.load_format);
  if (model.quantization != "auto") return refuse("model.quantization", "auto", model.quantization);
  const auto& exec = context.get_exec();
  for (const auto& [field, value] : {std::pair<std::string, std::string>{"attention_backend", exec.attention_backend},
                                     {"prefill_attention_backend", exec.prefill_attention_backend.value_or("auto")},
                                     {"decode_attention_backend", exec.decode_attention_backend.value_or("auto")}}) {
    if (value != "auto" && value != "cpu") return refuse("exec." + field, "auto or cpu", value);
  }
  // The law follows from each request's temperature; forcing another one is not built yet.
  if (context.get_spec().law != "auto") return refuse("spec.law", "auto", context.get_spec().law);
  if (context.get_parallel().backend != "none") return refuse("parallel.backend", "none", context.get_parallel().backend);
  if (context.get_parallel().ranks != 1) return refuse("parallel.ranks", "1", std::to_string(context.get_parallel().ranks));
  return {};
}

Result<kernels::Isa> choose_isa(const std::string& wanted) {
  if (wanted == "auto") return kernels::best_isa();
  const auto available = kernels::available_isas();
  const auto isa = kernels::isa_from_name(wanted);
  if (isa && std::find(available.begin(), available.end(), *isa) != available.end()) return *isa;
  std::string names;
  for (const kernels::Isa a : available) names += (names.empty() ? "" : ", ") + std::string(kernels::isa_name(a));
  return Error{"device.isa: expected one this processor runs (" + names + "), found '" + wanted + "'; set it to auto"};
}

// Cores this process may use, as its CPU affinity says.
int usable_cores() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

Result<std::string> read_file(const std::string& path, const std::string& what) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) return Error{what + ": " + path + " cannot be read; check the path and its permissions"};
  return text.str();
}

Result<void> read_chat_template(const config::RuntimeContext& context, const formats::GgufFile& file, Runtime& runtime) {
  if (const auto& path = context.get_model().chat_template) {
    OUTRIDER_TRY(std::string source, read_file(*path, "model.chat_template"));
    auto parsed = text::ChatTemplate::parse(std::move(source));
    if (!parsed.ok()) return parsed.error().within(*path);
    runtime.chat_template = *std::move(parsed);
    return {};
  }
  if (!file.has("tokenizer.chat_template")) return {};
  OUTRIDER_TRY(const std::string_view source, file.string("tokenizer.chat_template"));
  auto parsed = text::ChatTemplate::parse(std::string(source));
  if (parsed.ok()) {
    runtime.chat_template = *std::move(parsed);
  } else {
    runtime.chat_template_problem = parsed.error().within("the model's chat template").message;
  }
  return {};
}

// The options that may change while requests run.
void follow(const config::RuntimeContext& context, EngineOptions& options) {
  const auto& schedule = context.get_schedule();
  options.queue_capacity = static_cast<int32_t>(schedule.queue_capacity);
  options.prefill_chunk = static_cast<int32_t>(schedule.prefill_chunk);
  const auto& spec = context.get_spec();
  options.draft_tokens = static_cast<int32_t>(spec.draft_tokens);
  options.draft_depth = static_cast<int32_t>(spec.draft_depth);
  options.use_planner = spec.planner;
}

// Tells one build of this program from another: other kernels, other times.
std::string program_build() {
  std::error_code unreadable;
  const fs::path program = fs::read_symlink("/proc/self/exe", unreadable);
  const auto size = fs::file_size(program, unreadable);
  const auto written = fs::last_write_time(program, unreadable).time_since_epoch().count();
  return unreadable ? OUTRIDER_VERSION : OUTRIDER_VERSION " of " + std::to_string(size) + " bytes, written " + std::to_string(written);
}

// Where what can be made anew is kept: `name` below Outrider's cache folder; empty without a home folder.
fs::path cache_folder(const char* name) {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') return fs::path(cache) / "outrider" / name;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return fs::path(home) / ".cache/outrider" / name;
  return {};
}

// Where the times of this model's passes on this machine are kept, and what they hold for. No home folder, no file. Another build of this
// program writes over the file of the one before.
void find_pass_times(const std::string& model_path, const model::Transformer& target, EngineOptions& options) {
  std::error_code unreadable;
  const auto size = fs::file_size(model_path, unreadable);
  const fs::path folder = cache_folder("costs");
  if (folder.empty() || unreadable) return;
  const fs::path path = fs::absolute(model_path, unreadable);
  const std::string pass = path.string() + ", " + std::to_string(size) + " bytes; " + kernels::processor_name() + ", " +
                           std::string(kernels::isa_name(target.isa())) + ", " + std::to_string(target.pool().size()) + " threads, KV " +
                           std::string(kernels::kv_type_name(options.kv_type));
  options.pass_times_key = pass + "; " + program_build();
  char name[32];
  std::snprintf(name, sizeof name, "%016zx.json", std::hash<std::string>()(pass));
  options.pass_times_file = folder / name;
}

drafting::TargetInfo target_info(const Runtime& runtime, const EngineOptions& options) {
  const model::Architecture& a = runtime.target->architecture();
  drafting::TargetInfo info;
  info.vocab_size = a.vocab_size;
  info.hidden_size = a.hidden_size;
  info.layers = a.layers;
  info.context_length = options.context_length;
  info.max_requests = options.max_running_requests;
  info.bos = runtime.tokenizer->bos().value_or(-1);
  info.eos = runtime.tokenizer->eos().value_or(-1);
  info.architecture = a.name;
  info.tokenizer_fingerprint = runtime.tokenizer->fingerprint();
  return info;
}

struct NamedDrafter {
  std::string name;
  std::unique_ptr<drafting::Drafter> drafter;
};

// Builds each drafter asked for; one that is refused is reported, and the run goes on without it.
Result<std::vector<NamedDrafter>> make_drafters(config::RuntimeContext& context, const RuntimeOptions& options, const EngineOptions& engine, Runtime& runtime) {
  std::vector<std::string> names = options.drafters;
  const std::string configured = context.get_spec().algorithm;
  if (configured != "none" && std::find(names.begin(), names.end(), configured) == names.end()) names.insert(names.begin(), configured);
  const bool required = context.get_spec().require_drafter;
  const text::Tokenizer& tokenizer = *runtime.tokenizer;
  const drafting::Tokenize tokenize = [&tokenizer](std::string_view text) -> Result<std::vector<int32_t>> {
    return tokenizer.encode(text, false, false);
  };
  std::vector<NamedDrafter> drafters;
  for (const std::string& name : names) {
    if (name == "none") continue;
    auto drafter = drafting::make_drafter(context, name, target_info(runtime, engine), tokenize);
    if (drafter.ok()) {
      drafters.push_back({name, *std::move(drafter)});
      continue;
    }
    if (required) return drafter.error();
    runtime.refusals.push_back(drafter.error().message);
    log::warn("{}; decoding plainly", drafter.error().message);
  }
  return drafters;
}

}  // namespace

Result<void> record_load_decisions(config::RuntimeContext& context, int32_t trained_context) {
  std::vector<config::Assignment> decided;
  if (context.get_model().context_length == 0) decided.push_back({"model.context_length", static_cast<int64_t>(trained_context)});
  if (context.get_memory().kv_type == "auto") decided.push_back({"memory.kv_type", std::string("f16")});
  return context.override("target load", decided);
}

EngineOptions engine_options(const config::RuntimeContext& context) {
  EngineOptions options;
  options.max_running_requests = static_cast<int32_t>(context.get_schedule().max_running_requests);
  options.max_batch_rows = static_cast<int32_t>(context.get_schedule().max_batch_rows);
  options.kv_positions = context.get_memory().kv_tokens;
  options.kv_type = model::kv_type_of(context.get_memory().kv_type);
  options.context_length = static_cast<int32_t>(context.get_model().context_length);
  options.refresh = [&context](EngineOptions& current) { follow(context, current); };
  options.refresh(options);
  return options;
}

fs::path models_folder() {
  if (const char* folder = std::getenv("OUTRIDER_MODELS"); folder != nullptr && *folder != '\0') return folder;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return fs::path(home) / ".cache/outrider/models";
  return ".cache/outrider/models";
}

Result<std::string> find_model(const std::string& name_or_path) {
  std::error_code ignored;
  if (fs::is_regular_file(name_or_path, ignored)) return name_or_path;
  const fs::path folder = models_folder();
  const fs::path cached = folder / (name_or_path + ".gguf");
  if (name_or_path.find('/') == std::string::npos && fs::is_regular_file(cached, ignored)) return cached.string();
  std::string known;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".gguf") known += (known.empty() ? "" : ", ") + entry.path().stem().string();
  }
  return Error{"model: expected a GGUF file or the name of a fetched model, found '" + name_or_path + "'; in " + folder.string() + " there " +
               (known.empty() ? "is none" : "is " + known) + "; fetch one with scripts/fetch-model NAME"};
}

Result<Runtime> make_runtime(config::RuntimeContext& context, const RuntimeOptions& options) {
  OUTRIDER_CHECK(check_supported(context));
  OUTRIDER_TRY(const kernels::Isa isa, choose_isa(context.get_device().isa));

  Runtime runtime;
  OUTRIDER_TRY(runtime.model_path, find_model(context.get_model().path));
  OUTRIDER_TRY(const formats::GgufFile file, formats::GgufFile::open(runtime.model_path));
  OUTRIDER_TRY(const std::string_view stated, file.value_or<std::string_view>("general.name", ""));
  runtime.model_name = context.get_model().name.value_or(stated.empty() ? fs::path(runtime.model_path).stem().string() : std::string(stated));
  OUTRIDER_TRY(text::TokenizerData data, text::read_tokenizer(file));
  OUTRIDER_TRY(runtime.tokenizer, text::Tokenizer::create(std::move(data)));
  OUTRIDER_CHECK(read_chat_template(context, file, runtime));
  if (!options.engine) return runtime;

  OUTRIDER_CHECK(context.advance(config::Stage::load));
  const auto threads = static_cast<int>(context.get_device().threads);
  runtime.pool = std::make_unique<kernels::ThreadPool>(threads > 0 ? threads : usable_cores());
  fs::path repack_cache;
  if (context.get_model().repack_cache) {
    const fs::path folder = cache_folder("repacked");
    if (folder.empty()) log::warn("model.repack_cache: neither XDG_CACHE_HOME nor HOME names a folder; the weights are repacked and not kept");
    else repack_cache = model::repack_cache_file(folder, runtime.model_path);
  }
  OUTRIDER_TRY(runtime.target, model::Transformer::load(file, *runtime.pool, isa, repack_cache));
  const int32_t trained = runtime.target->architecture().context_length;
  OUTRIDER_CHECK(record_load_decisions(context, trained));
  EngineOptions engine = engine_options(context);
  if (context.get_spec().keep_costs) find_pass_times(runtime.model_path, *runtime.target, engine);
  if (engine.context_length > trained) {
    log::warn("model.context_length: {} is more than the {} the model was made for; quality falls beyond it", engine.context_length, trained);
  }
  // Drafters before the memory plan: only now are the bytes of both models known (design: what is current at each moment).
  OUTRIDER_CHECK(context.advance(config::Stage::draft));
  OUTRIDER_TRY(std::vector<NamedDrafter> drafters, make_drafters(context, options, engine, runtime));
  OUTRIDER_CHECK(context.advance(config::Stage::plan));
  runtime.engine = std::make_unique<Engine>(*runtime.target, *runtime.tokenizer, engine);
  bool default_loaded = false;
  for (NamedDrafter& named : drafters) {
    default_loaded |= named.name == context.get_spec().algorithm;
    OUTRIDER_CHECK(runtime.engine->add_drafter(named.name, std::move(named.drafter)));
  }
  runtime.engine->set_default_drafter(default_loaded ? context.get_spec().algorithm : "none");
  OUTRIDER_CHECK(context.advance(config::Stage::serve));
  return runtime;
}

}  // namespace outrider::scheduler
