// The table of design/config-lifecycle, as one test: which configuration a drafter is handed and which is current at each moment, for
// every kind of drafter, with building failing at each moment in turn. The target is a whole model, loaded the way the program loads one;
// the drafter is a plugin that writes down what it sees.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "config/draft_copy.hpp"
#include "scheduler/runtime.hpp"
#include "support.hpp"
#include "support/tiny_gguf.hpp"

using namespace contract;
using namespace outrider;
using Catch::Matchers::Contains;

namespace {

// As the witness writes them: load_format/context_length/kv_type/attention_backend/prefill_attention_backend. The target's context length
// and KV type were decided when it was loaded, and are overrides.
const std::string kTarget = "auto/256/f16/auto/cpu";
const std::string kCopy = "gguf/256/f32/cpu/-";
const std::string kRunner = "gguf/256/f32/cpu/-/no tokenizer";

struct Kind {
  std::string name;
  std::string witness;  // its option `kind`; empty: no drafter at all
  bool corpora;
  std::vector<std::pair<std::string, std::string>> moments;  // in order: name, what is handed and current there
};

std::string line(const std::string& handed, const std::string& current) { return "handed " + handed + ", current " + current; }

std::vector<Kind> kinds() {
  const std::pair<std::string, std::string> factory = {"factory", line(kCopy, kTarget)}, worker = {"worker", line(kCopy, kCopy)},
                                            built = {"built", line(kCopy, kCopy)};
  return {
      {"none", "", false, {}},
      {"stateless", "stateless", false, {factory, worker, built}},
      {"with a model", "model", false, {factory, worker, {"weights", line(kCopy, kCopy)}, built}},
      {"with a nested runner", "runner", false, {factory, worker, {"runner", line(kRunner, kRunner)}, built}},
      {"with corpora", "stateless", true, {factory, worker, built, {"corpora", line(kCopy, kTarget)}}},
  };
}

class Target {
 public:
  explicit Target(const Kind& kind, const std::string& fail_at, bool keep_costs = false) {
    testing::write_tiny_gguf(model_);
    config::ServerArgs args;
    if (!kind.witness.empty()) {
      config::DrafterTable table;
      table.name = "witness";
      table.library = evil("witness");
      const config::Origin origin{config::Origin::Kind::option, "--set", 0, 0};
      for (const auto& [key, value] : std::map<std::string, std::string>{{"trace", trace_}, {"kind", kind.witness}, {"fail_at", fail_at}}) {
        table.options.push_back({key, value, origin});
      }
      if (kind.corpora) table.corpora.push_back({"shared", folder_.write("corpus.jsonl", "[1, 2, 3]\n").string(), origin});
      args.drafters.push_back(std::move(table));
    }
    const auto derived = args.derive({
        {{config::Origin::Kind::option, "--set", 0, 0}, "model.path", model_},
        {{config::Origin::Kind::option, "--set", 0, 0}, "device.threads", int64_t{1}},
        {{config::Origin::Kind::option, "--set", 0, 0}, "spec.algorithm", std::string(kind.witness.empty() ? "none" : "witness")},
        {{config::Origin::Kind::option, "--set", 0, 0}, "spec.require_drafter", !kind.witness.empty()},
        {{config::Origin::Kind::option, "--set", 0, 0}, "spec.draft_model_path", model_},
        {{config::Origin::Kind::option, "--set", 0, 0}, "spec.draft_load_format", std::string("auto")},  // told from the draft's path: gguf
        {{config::Origin::Kind::option, "--set", 0, 0}, "spec.draft_kv_type", std::string("f32")},
        {{config::Origin::Kind::option, "--set", 0, 0}, "spec.draft_attention_backend", std::string("cpu")},
        {{config::Origin::Kind::option, "--set", 0, 0}, "exec.prefill_attention_backend", std::string("cpu")},
        {{config::Origin::Kind::option, "--set", 0, 0}, "spec.keep_costs", keep_costs},
    });
    if (!derived) throw std::runtime_error(derived.error().message);
    args_ = std::make_shared<const config::ServerArgs>(*derived);
    if (auto published = context.publish(args_, config::Role::test); !published) throw std::runtime_error(published.error().message);
  }

  Result<scheduler::Runtime> load() { return scheduler::make_runtime(context, {}); }

  // name, what was seen
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> trace() const {
    std::vector<std::pair<std::string, std::string>> lines;
    std::istringstream text(read(trace_));
    for (std::string one; std::getline(text, one);) lines.emplace_back(one.substr(0, one.find(": ")), one.substr(one.find(": ") + 2));
    return lines;
  }

  [[nodiscard]] const std::shared_ptr<const config::ServerArgs>& args() const { return args_; }

  config::RuntimeContext context;

 private:
  TemporaryFolder folder_;
  std::string model_ = (folder_.path() / "tiny.gguf").string();
  std::string trace_ = (folder_.path() / "trace.txt").string();
  std::shared_ptr<const config::ServerArgs> args_;
};

// The target's configuration, verbatim: the object that was published, its role, the one override that loading made, and the values.
void check_target_is_current(const Target& target) {
  CHECK(target.context.args() == target.args());
  CHECK(target.context.role() == config::Role::test);
  REQUIRE(target.context.overrides_log().size() == 1);
  CHECK(target.context.overrides_log()[0].source == "target load");
  CHECK(target.context.overrides_log()[0].fields.size() == 2);
  CHECK(target.context.get_model().load_format == "auto");
  CHECK(target.context.get_model().context_length == 256);
  CHECK(target.context.get_memory().kv_type == "f16");
  CHECK(target.context.get_exec().attention_backend == "auto");
  CHECK(target.context.get_exec().prefill_attention_backend == "cpu");
  CHECK(target.args()->values().model.context_length == 0);
  CHECK(target.args()->values().memory.kv_type == "auto");
}

}  // namespace

TEST_CASE("what is current at each moment, for every kind of drafter, with building failing at each moment in turn") {
  for (const Kind& kind : kinds()) {
    std::vector<std::string> failures = {"never"};
    for (const auto& [moment, seen] : kind.moments) {
      if (moment != "built") failures.push_back(moment);
    }
    for (const std::string& fail_at : failures) {
      INFO(kind.name << ", failing at: " << fail_at);
      Target target(kind, fail_at);
      const auto runtime = target.load();
      std::vector<std::pair<std::string, std::string>> expected;
      for (const auto& moment : kind.moments) {
        expected.push_back(moment);
        if (moment.first == fail_at) break;
      }
      CHECK(target.trace() == expected);
      check_target_is_current(target);
      if (fail_at == "never") {
        REQUIRE(runtime.ok());
        // The memory plan: after the drafter, under the target's configuration (the draft's KV type is wider).
        CHECK(target.context.stage() == config::Stage::serve);
        const model::KvCache f16(runtime->target->architecture(), kernels::KvType::f16, runtime->engine->kv_positions());
        CHECK(runtime->engine->kv_bytes() == f16.bytes());
        CHECK(runtime->engine->drafter_reports().size() == (kind.witness.empty() ? 0 : 1));
      } else {
        REQUIRE_FALSE(runtime.ok());
        CHECK_THAT(runtime.error().message, Contains("failing at the " + fail_at + " as asked"));
        CHECK(target.context.stage() == config::Stage::draft);  // nothing was planned yet
      }
    }
  }
}

TEST_CASE("a runner that a worker leaves open is closed when the worker's construction ends") {
  Target target({"with a nested runner", "runner", false, {}}, "left open");
  const auto runtime = target.load();
  REQUIRE_FALSE(runtime.ok());
  CHECK(target.trace() == std::vector<std::pair<std::string, std::string>>{
                              {"factory", line(kCopy, kTarget)}, {"worker", line(kCopy, kCopy)}, {"left open", line(kRunner, kRunner)}});
  check_target_is_current(target);
}

TEST_CASE("a runner can be opened in worker_create alone") {
  Target target({"stateless", "stateless", false, {}}, "never");
  auto runtime = target.load();
  REQUIRE(runtime.ok());
  scheduler::Request request;
  request.prompt = {1, 2, 3};
  request.sampling.max_tokens = 4;
  const auto completions = runtime->engine->complete(std::move(request));
  REQUIRE(completions.ok());
  CHECK(runtime->engine->drafter_reports()[0].faults == 0);  // the witness fails in begin() when it can
}

TEST_CASE("a draft copy keeps the source of every value it shows, the target's load decisions included") {
  Target target({"stateless", "stateless", false, {}}, "never");
  REQUIRE(target.load().ok());
  const auto copy = config::draft_args_copy(target.context, {.context_length = 256});
  REQUIRE(copy.ok());
  const auto source = [&](std::string_view path) { return (*copy)->step(config::find_field(path)->id).origin.text(); };
  CHECK_THAT(source("memory.kv_type"), Contains("spec.draft_kv_type"));
  CHECK_THAT(source("model.context_length"), Contains("the target's context length"));
  CHECK_THAT(source("model.load_format"), Contains("spec.draft_load_format"));
  CHECK_THAT(source("device.threads"), Contains("--set"));
}

TEST_CASE("the costs of passes are kept in the cache folder when they are wanted, and not otherwise") {
  // A variable of the environment that has its old value again at the end, whatever throws.
  struct Variable {
    const char* name;
    std::optional<std::string> old;
    explicit Variable(const char* its_name) : name(its_name) {
      if (const char* value = std::getenv(name)) old = value;
    }
    ~Variable() { old ? ::setenv(name, old->c_str(), 1) : ::unsetenv(name); }
  };
  const TemporaryFolder home;
  const Variable home_variable("HOME"), cache_variable("XDG_CACHE_HOME");
  ::setenv("HOME", home.path().c_str(), 1);
  ::unsetenv("XDG_CACHE_HOME");
  const auto files = [](const std::filesystem::path& folder) {
    std::error_code none;
    return std::distance(std::filesystem::directory_iterator(folder, none), std::filesystem::directory_iterator());
  };
  const auto folder = home.path() / ".cache/outrider/costs";
  REQUIRE(Target({"stateless", "stateless", false, {}}, "never", false).load().ok());
  CHECK(files(folder) == 0);
  REQUIRE(Target({"none", "", false, {}}, "never", true).load().ok());
  CHECK(files(folder) == 0);  // without a drafter there is nothing to weigh
  REQUIRE(Target({"stateless", "stateless", false, {}}, "never", true).load().ok());
  CHECK(files(folder) == 1);
  ::setenv("XDG_CACHE_HOME", (home.path() / "elsewhere").c_str(), 1);
  REQUIRE(Target({"stateless", "stateless", false, {}}, "never", true).load().ok());
  CHECK(files(home.path() / "elsewhere/outrider/costs") == 1);
  CHECK(files(folder) == 1);
}
