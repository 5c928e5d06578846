// Keeps the contract and writes down what it sees of the host: at each moment of building, the copy it was handed and what is current in
// its thread, one line each, into the file of its option `trace`. With `kind` it builds as that kind of drafter does; with `fail_at` it
// fails on purpose at a moment.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "outrider/plugin.hpp"

namespace {

namespace sdk = outrider::sdk;

const char* const kKinds[] = {"stateless", "model", "runner", nullptr};
const char* const kMoments[] = {"never", "factory", "worker", "weights", "runner", "left open", "corpora", nullptr};

// "load_format/context_length/kv_type/attention_backend/prefill_attention_backend", "-" where a value is not set.
std::string seen(const sdk::Config& config) {
  const auto text = [&config](const char* key) {
    try {
      return config.get_string(key);
    } catch (const sdk::Error&) {
      return std::string("-");
    }
  };
  return text("model.load_format") + "/" + std::to_string(config.get_int("model.context_length")) + "/" + text("memory.kv_type") + "/" +
         text("exec.attention_backend") + "/" + text("exec.prefill_attention_backend") +
         (config.get_bool("model.skip_tokenizer") ? "/no tokenizer" : "");
}

class WitnessWorker;

class WitnessDrafter {
 public:
  using Worker = WitnessWorker;
  static constexpr outrider_option options[] = {
      sdk::string_option("trace", "/dev/null", "the file to write to"),
      sdk::choice_option("kind", "stateless", kKinds, "what the worker builds"),
      sdk::choice_option("fail_at", "never", kMoments, "the moment at which to fail"),
  };

  WitnessDrafter(const sdk::Host& host, const sdk::Config& config, const outrider_model_info&)
      : factory_config(config.raw()), host_(host), kept_(config) {
    moment("factory", config);
  }

  void moment(const std::string& name, const sdk::Config& handed) const {
    if (std::FILE* file = std::fopen(kept_.get_string("trace").c_str(), "a")) {
      std::fprintf(file, "%s: handed %s, current %s\n", name.c_str(), seen(handed).c_str(), seen(kept_.current()).c_str());
      std::fclose(file);
    }
    if (kept_.get_string("fail_at") == name) throw sdk::Error(OUTRIDER_E_INTERNAL, "failing at the " + name + " as asked");
  }

  void add_corpus(const char*, sdk::View<const int32_t>) { moment("corpora", kept_); }
  bool remove_corpus(const char*) { return true; }

  // Which of the service's calls are refused at this moment: "open", "close", both or neither.
  std::string runner_refusals() const {
    const auto* service = host_.query<outrider_host_draft_runner_1>(OUTRIDER_HOST_DRAFT_RUNNER_1);
    const outrider_config* config = nullptr;
    std::string refused;
    if (service->open(host_.raw(), nullptr, &config) == OUTRIDER_E_STATE) refused += "open";
    if (service->close(host_.raw()) == OUTRIDER_E_STATE) refused += "close";
    return refused;
  }

  const outrider_config* factory_config;
  sdk::Host host_;
  sdk::Config kept_;
};

class WitnessWorker {
 public:
  struct Request {};

  WitnessWorker(WitnessDrafter& drafter, const sdk::Config& config, uint32_t) : drafter_(drafter) {
    if (config.raw() != drafter.factory_config) throw sdk::Error(OUTRIDER_E_STATE, "factory and worker got different copies");
    drafter.moment("worker", config);
    const std::string kind = config.get_string("kind");
    if (kind == "model") read_weights(config);
    if (kind == "runner") build_runner(config);
    drafter.moment("built", config);
  }

  std::unique_ptr<Request> begin(const sdk::RequestInfo&) {
    if (drafter_.runner_refusals() != "openclose") throw sdk::Error(OUTRIDER_E_STATE, "a runner can be opened outside worker_create");
    return std::make_unique<Request>();
  }
  void propose(Request&, const sdk::Item&, sdk::Draft&) {}

 private:
  // A drafter with a model reads it while its own configuration is current.
  void read_weights(const sdk::Config& config) {
    const std::string path = config.get_string("spec.draft_model_path");
    std::FILE* file = std::fopen(path.c_str(), "rb");
    char magic[4] = {};
    const bool whole = file != nullptr && std::fread(magic, 1, 4, file) == 4;
    if (file != nullptr) std::fclose(file);
    if (!whole) throw sdk::Error(OUTRIDER_E_IO, "cannot read " + path);
    drafter_.moment("weights", config);
  }

  void build_runner(const sdk::Config& config) {
    if (config.get_string("fail_at") == "left open") {
      const outrider_config* second = nullptr;
      config.host().query<outrider_host_draft_runner_1>(OUTRIDER_HOST_DRAFT_RUNNER_1)->open(config.host().raw(), nullptr, &second);
      drafter_.moment("left open", sdk::Config(config.host(), second));
    }
    const sdk::DraftRunner runner(config);
    if (runner.config().raw() == config.raw()) throw sdk::Error(OUTRIDER_E_STATE, "the runner got the worker's copy");
    drafter_.moment("runner", runner.config());
    if (config.host().query<outrider_host_draft_runner_1>(OUTRIDER_HOST_DRAFT_RUNNER_1)->open(config.host().raw(), nullptr, &unused_) !=
        OUTRIDER_E_STATE) {
      throw sdk::Error(OUTRIDER_E_STATE, "two runners can be open at once");
    }
  }

  WitnessDrafter& drafter_;
  const outrider_config* unused_ = nullptr;
};

}  // namespace

OUTRIDER_PLUGIN(WitnessDrafter, "org.example.witness", "witness", "1.0.0", 0, "Example", "Apache-2.0", "https://example.org");
