// Keeps the contract and checks that the host does: which configuration is current in the factory, in the worker and after, and that both
// get one and the same copy. What it finds wrong is an error of that call. With `fail_at` it fails on purpose at a moment of building.
#include <memory>
#include <string>
#include <vector>

#include "outrider/plugin.hpp"

namespace {

namespace sdk = outrider::sdk;

// The field that tells the two configurations apart: the test sets the draft's to another value than the target's.
constexpr char kField[] = "model.load_format";

const char* const kMoments[] = {"never", "factory", "worker", "corpora", nullptr};

class WitnessWorker;

class WitnessDrafter {
 public:
  using Worker = WitnessWorker;
  static constexpr outrider_option options[] = {
      sdk::string_option("target_says", "auto", "the target's load_format"),
      sdk::string_option("copy_says", "safetensors", "the draft copy's load_format"),
      sdk::choice_option("fail_at", "never", kMoments, "the moment at which to fail"),
  };

  WitnessDrafter(const sdk::Host&, const sdk::Config& config, const outrider_model_info&) : factory_config(config.raw()) {
    expect(config.get_string(kField), config.get_string("copy_says"), "the copy in the factory");
    expect(config.current().get_string(kField), config.get_string("target_says"), "the current configuration in the factory");
    fail_at = config.get_string("fail_at");
    keep = std::make_unique<sdk::Config>(config);
    if (fail_at == "factory") throw sdk::Error(OUTRIDER_E_INTERNAL, "failing in the factory as asked");
  }

  void add_corpus(const char*, sdk::View<const int32_t>) {
    expect(keep->current().get_string(kField), keep->get_string("target_says"), "the current configuration when corpora are attached");
    if (fail_at == "corpora") throw sdk::Error(OUTRIDER_E_INTERNAL, "failing at the corpora as asked");
  }
  bool remove_corpus(const char*) { return true; }

  static void expect(const std::string& found, const std::string& expected, const char* where) {
    if (found != expected) {
      throw sdk::Error(OUTRIDER_E_STATE, std::string(where) + ": expected load_format " + expected + ", found " + found);
    }
  }

  const outrider_config* factory_config;
  std::string fail_at;
  std::unique_ptr<sdk::Config> keep;
};

class WitnessWorker {
 public:
  struct Request {};

  WitnessWorker(WitnessDrafter& drafter, const sdk::Config& config, uint32_t) {
    if (config.raw() != drafter.factory_config) throw sdk::Error(OUTRIDER_E_STATE, "factory and worker got different copies");
    WitnessDrafter::expect(config.current().get_string(kField), config.get_string("copy_says"), "the current configuration in the worker");
    if (drafter.fail_at == "worker") throw sdk::Error(OUTRIDER_E_INTERNAL, "failing in the worker as asked");
  }
  std::unique_ptr<Request> begin(const sdk::RequestInfo&) { return std::make_unique<Request>(); }
  void propose(Request&, const sdk::Item&, sdk::Draft&) {}
};

}  // namespace

OUTRIDER_PLUGIN(WitnessDrafter, "org.example.witness", "witness", "1.0.0", 0, "Example", "Apache-2.0", "https://example.org");
