#include "drafting/hand_over.hpp"

#include <functional>
#include <span>

#include "base/log.hpp"
#include "config/draft_copy.hpp"
#include "drafting/corpus_manager.hpp"
#include "drafting/draft_runner.hpp"
#include "drafting/instance.hpp"
#include "drafting/plugin_call.hpp"
#include "drafting/plugin_drafter.hpp"
#include "drafting/plugin_options.hpp"
#include "drafting/refusal.hpp"
#include "drafting/search.hpp"

namespace outrider::drafting {
namespace {

constexpr const char* kSeePlugin = "see the plugin's own documentation";

outrider_model_info model_info(const TargetInfo& target) {
  const auto whole = [](int32_t value) { return static_cast<uint32_t>(value); };
  return {sizeof(outrider_model_info),
          whole(target.vocab_size),
          whole(target.hidden_size),
          whole(target.layers),
          whole(target.context_length),
          whole(target.max_requests),
          target.bos,
          target.eos,
          target.architecture.c_str(),
          target.tokenizer_fingerprint.c_str()};
}

// The drafter's table; refused when a function that must be there is not.
Result<void> find_table(Instance& instance, const std::string& file) {
  instance.table = instance.library->query<outrider_drafter_1>(OUTRIDER_DRAFTER_1);
  const outrider_drafter_1* t = instance.table;
  if (t == nullptr) return refused(file, "it does not offer " OUTRIDER_DRAFTER_1, "return its table from query");
  if (!OUTRIDER_HAS(outrider_drafter_1, t, request_end) || !t->create || !t->destroy || !t->worker_create || !t->worker_destroy ||
      !t->request_begin || !t->propose) {
    return refused(file, "its " OUTRIDER_DRAFTER_1 " lacks a function that every drafter must have",
                   "fill in create, destroy, worker_create, worker_destroy, request_begin, propose and request_end");
  }
  const auto* corpora = instance.library->query<outrider_corpora_1>(OUTRIDER_CORPORA_1);
  if (OUTRIDER_HAS(outrider_corpora_1, corpora, add) && OUTRIDER_HAS(outrider_corpora_1, corpora, remove)) instance.corpora = corpora;
  return {};
}

// Fills in the configuration the plugin sees: the copy, and its options checked against its own declaration.
Result<void> configure(Instance& instance, std::shared_ptr<const config::ServerArgs> copy, const std::string& name,
                       const std::string& file) {
  uint32_t count = 0;
  const outrider_option* const* declared = nullptr;
  if (instance.table->options != nullptr) {
    const CallOutcome outcome = call_plugin([&](outrider_error*) { return declared = instance.table->options(&count), OUTRIDER_OK; });
    if (outcome.failed()) return refused(file, "options: " + outcome.text, kSeePlugin);
    if (declared == nullptr) count = 0;
  }
  auto values = option_values({declared, count}, copy->drafter(name), name);
  if (!values) return refused(file, values.error().message, "correct the configuration");
  instance.config = std::make_unique<outrider_config>(outrider_config{std::move(copy), *std::move(values)});
  return {};
}

// The plugin's own judgement of the configuration, and what it would need of the host.
Result<void> agree(const Instance& instance, const outrider_model_info& model, const std::string& file) {
  if (instance.table->validate != nullptr) {
    std::string complaints;
    const outrider_diagnostics diagnostics = {
        sizeof(outrider_diagnostics), 0, &complaints, [](void* context, const char* key, const char* message, const char* hint) {
          auto& text = *static_cast<std::string*>(context);
          text += (text.empty() ? "" : "\n  ") + std::string(key ? key : "") + ": " + (message ? message : "");
          if (hint != nullptr) text += std::string(" (") + hint + ")";
        }};
    const CallOutcome outcome = call_plugin(
        [&](outrider_error*) { return instance.table->validate(instance.services->host(), instance.config.get(), &model, &diagnostics); });
    if (outcome.failed()) return refused(file, complaints.empty() ? "validate: " + outcome.text : complaints, "correct the configuration");
  }
  if (instance.table->require == nullptr) return {};
  outrider_requirements requirements = {sizeof(outrider_requirements), 0, 0, 0, 0, 0};
  const CallOutcome outcome = call_plugin([&](outrider_error* error) {
    return instance.table->require(instance.services->host(), instance.config.get(), &model, &requirements, error);
  });
  if (outcome.failed()) return refused(file, "require: " + outcome.text, kSeePlugin);
  static constexpr struct {
    uint64_t bit;
    const char* name;
  } kNeeds[] = {{OUTRIDER_NEED_HIDDEN_STATES, "the target's hidden states"},
                {OUTRIDER_NEED_EMBEDDING, "the target's embedding"},
                {OUTRIDER_NEED_HEAD, "the target's head"},
                {OUTRIDER_NEED_KV_CACHE, "the target's KV cache"},
                {OUTRIDER_NEED_LOGITS, "the target's logits"}};
  std::string missing;
  for (const auto& need : kNeeds) {
    if ((requirements.needs & need.bit) != 0) missing += (missing.empty() ? "" : ", ") + std::string(need.name);
    requirements.needs &= ~need.bit;
  }
  if (requirements.needs != 0) missing += (missing.empty() ? "" : ", ") + std::string("something this host does not know of");
  if (!missing.empty())
    return refused(file, "it needs " + missing + ", which this host does not lend", "use a newer host or another drafter");
  return {};
}

// The worker, inside the window: the copy it is built with is the one the factory saw, and is what the thread reads meanwhile.
Result<void> build_worker(Instance& instance, config::RuntimeContext& context, config::DraftTarget target, const std::string& file) {
  const auto window = context.preserve_config();
  if (auto published = context.publish(instance.config->args, config::Role::draft); !published) {
    return refused(file, "its configuration does not hold together: " + published.error().message, "correct the configuration");
  }
  const DraftRunnerWindow runner(context, *instance.services, *instance.config, target);
  const CallOutcome outcome = call_plugin([&](outrider_error* error) {
    return instance.table->worker_create(instance.drafter, instance.config.get(), 0, &instance.worker, error);
  });
  if (outcome.status != OUTRIDER_OK || instance.worker == nullptr) {
    instance.worker = nullptr;
    return refused(file, "building its worker failed: " + (outcome.text.empty() ? "it made none" : outcome.text), kSeePlugin);
  }
  return {};
}

CorpusSink sink_of(Instance& instance) {
  const auto done = [](const CallOutcome& outcome) -> Result<void> {
    if (outcome.status == OUTRIDER_OK) return {};
    return Error{"the drafter did not take it: " + (outcome.text.empty() ? "it has no use for it" : outcome.text)};
  };
  static constexpr const char* kGone = "the drafter is out of use after a fault; restart when convenient";
  return {
      [&instance, done](const std::string& name, std::span<const int32_t> tokens) -> Result<void> {
        if (instance.abandoned()) return Error{kGone};
        return done(call_plugin([&](outrider_error* error) {
          return instance.corpora->add(instance.drafter, name.c_str(), tokens.data(), tokens.size(), error);
        }));
      },
      [&instance, done](const std::string& name) -> Result<void> {
        if (instance.abandoned()) return Error{kGone};
        return done(call_plugin([&](outrider_error* error) { return instance.corpora->remove(instance.drafter, name.c_str(), error); }));
      }};
}

// After the window: the corpora of [drafter.NAME.corpora].
Result<std::unique_ptr<CorpusManager>> attach_corpora(Instance& instance, const HandOver& with, const std::string& file) {
  const config::DrafterTable* table = instance.config->args->drafter(with.name);
  const bool configured = table != nullptr && !table->corpora.empty();
  if (instance.corpora == nullptr) {
    if (configured) return refused(file, "it takes no corpora, and [drafter." + with.name + ".corpora] names some", "remove that table");
    return std::unique_ptr<CorpusManager>();
  }
  auto manager = std::make_unique<CorpusManager>(sink_of(instance), with.tokenize, with.target.vocab_size);
  if (!configured) return manager;
  for (const config::Corpus& corpus : table->corpora) {
    if (auto added = manager->add_file(corpus.name, folder_of(corpus.origin) / corpus.file); !added) {
      return refused(file, added.error().message, "correct [drafter." + with.name + ".corpora]");
    }
  }
  return manager;
}

}  // namespace

Result<std::unique_ptr<Drafter>> build_drafter(const std::filesystem::path& library, const HandOver& with) {
  if (library.empty()) {
    std::string folders;
    for (const auto& folder : search_folders(*with.context.args())) folders += (folders.empty() ? "" : ", ") + folder.string();
    return refused(with.name + ".so", "there is no such file in " + folders,
                   "set [drafter." + with.name + "] library, or add its folder to [plugins] paths");
  }
  const std::string file = library.string();
  OUTRIDER_TRY(std::shared_ptr<PluginLibrary> opened, PluginLibrary::open(library));
  auto instance = std::make_unique<Instance>(std::move(opened));
  OUTRIDER_CHECK(find_table(*instance, file));

  const config::DraftTarget target{.context_length = with.target.context_length};
  auto copy = config::draft_args_copy(with.context, target);
  if (!copy) return refused(file, copy.error().message, "correct the configuration");
  OUTRIDER_CHECK(configure(*instance, *std::move(copy), with.name, file));

  instance->services = std::make_unique<HostServices>(with.context, with.name);
  const outrider_host* host = instance->services->host();
  const outrider_entry_v1& entry = instance->library->entry();
  if (entry.init != nullptr) {
    const CallOutcome outcome = call_plugin([&](outrider_error* error) { return entry.init(host, error); });
    if (outcome.status != OUTRIDER_OK) return refused(file, "init: " + outcome.text, kSeePlugin);
  }
  instance->initialised = true;
  const outrider_model_info model = model_info(with.target);
  OUTRIDER_CHECK(agree(*instance, model, file));

  const CallOutcome made = call_plugin(
      [&](outrider_error* error) { return instance->table->create(host, instance->config.get(), &model, &instance->drafter, error); });
  if (made.status != OUTRIDER_OK || instance->drafter == nullptr) {
    instance->drafter = nullptr;
    return refused(file, "its factory failed: " + (made.text.empty() ? "it made no drafter" : made.text), kSeePlugin);
  }
  OUTRIDER_CHECK(build_worker(*instance, with.context, target, file));
  OUTRIDER_TRY(std::unique_ptr<CorpusManager> corpora, attach_corpora(*instance, with, file));

  const auto guard = [&context = with.context]() -> GuardOptions {
    const config::SpecConfig& spec = context.get_spec();
    return {std::chrono::microseconds(spec.proposal_deadline_us), spec.breaker_strikes, !spec.tree};
  };
  auto drafter = std::make_unique<PluginDrafter>(with.name, with.target.vocab_size, std::move(instance), guard);
  drafter->attach(std::move(corpora));
  return std::unique_ptr<Drafter>(std::move(drafter));
}

}  // namespace outrider::drafting
