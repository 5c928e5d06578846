// The first promise on the real model with the real plugin: on Spec-Bench questions, a drafter changes no token and no bit of a logit, greedy
// or sampled with a seed, at any draft length, as chain or tree, at any batch size, on every instruction set this machine has.
//
// In the usual run every question is decoded plainly once and drafted once, and the settings rotate over the questions so that each value
// of each setting is met many times. With OUTRIDER_LONG set, every question meets every setting on the best instruction set.
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "config/load.hpp"
#include "scheduler/runtime.hpp"

using namespace outrider;

namespace {

constexpr size_t kQuestions = 40, kWithLogits = 5;

struct Setting {
  int32_t seed;         // 0: greedy
  int32_t draft_tokens;
  bool tree;
  size_t batch;
  kernels::Isa isa;
  int threads = 0;  // 0: one for each core
};

// The first turns of `count` questions spread evenly over the file.
std::vector<std::string> read_questions(size_t count) {
  std::ifstream in(OUTRIDER_TEST_DATA "/spec_bench_dev.jsonl");
  std::vector<std::string> turns, chosen;
  for (std::string line; std::getline(in, line);) turns.push_back(nlohmann::json::parse(line)["turns"][0]);
  REQUIRE(turns.size() >= count);
  for (size_t i = 0; i < count; ++i) chosen.push_back(turns[i * turns.size() / count]);
  return chosen;
}

// The questions as the chat template renders them.
std::vector<std::vector<int32_t>> read_prompts(const scheduler::Runtime& runtime) {
  std::vector<std::vector<int32_t>> prompts;
  for (const std::string& question : read_questions(kQuestions)) {
    const auto text = runtime.chat_template->render({{"messages", {{{"role", "user"}, {"content", question}}}}, {"add_generation_prompt", true}});
    REQUIRE(text.ok());
    prompts.push_back(runtime.tokenizer->encode(*text, true, true));
  }
  return prompts;
}

struct Model {
  config::RuntimeContext context;
  scheduler::Runtime runtime;
};

// `drafter` is "none", or "ngram" with a fixed draft length; `name` the model, empty for the default one.
std::unique_ptr<Model> open(const std::string& drafter, const Setting& setting, const std::string& name = "") {
  config::CommandLine line;
  const auto set = [&](const std::string& key, const std::string& value) { line.items.push_back({key, value, "test"}); };
  if (!name.empty()) set("model.path", name);
  set("device.isa", std::string(kernels::isa_name(setting.isa)));
  set("device.threads", std::to_string(setting.threads));
  set("spec.algorithm", drafter);
  set("spec.planner", "false");
  set("spec.draft_tokens", std::to_string(setting.draft_tokens));
  if (drafter != "none") {
    set("spec.require_drafter", "true");
    set("drafter.ngram.branches", setting.tree ? "4" : "1");
    set("drafter.ngram.min_chance", "0.0");
  }
  auto args = config::load({.command_line = line, .environment = {}});
  INFO((args.ok() ? "" : args.error().message));
  REQUIRE(args.ok());
  auto model = std::make_unique<Model>();
  REQUIRE(model->context.publish(std::make_shared<const config::ServerArgs>(*args), config::Role::test).ok());
  auto runtime = scheduler::make_runtime(model->context, {});
  INFO((runtime.ok() ? "" : runtime.error().message));
  REQUIRE(runtime.ok());
  model->runtime = *std::move(runtime);
  return model;
}

struct Output {
  std::vector<int32_t> tokens;
  std::vector<float> logits;
  int64_t drafted = 0, correct = 0;
  bool operator==(const Output& other) const {
    return tokens == other.tokens && logits.size() == other.logits.size() &&
           (logits.empty() || std::memcmp(logits.data(), other.logits.data(), logits.size() * sizeof(float)) == 0);
  }
};

// Decodes prompts[first … first + batch) together, and returns the first one's output.
Output decode(scheduler::Engine& engine, const std::vector<std::vector<int32_t>>& prompts, size_t first, size_t batch, int32_t seed, int32_t max_tokens,
              bool logits) {
  Output output;
  std::vector<uint64_t> ids;
  for (size_t i = 0; i < batch; ++i) {
    scheduler::Request request;
    request.prompt = prompts[(first + i) % prompts.size()];
    request.sampling.max_tokens = max_tokens;
    if (seed > 0) {
      request.sampling.temperature = 0.8F;
      request.sampling.seed = static_cast<uint64_t>(seed);
    }
    if (i == 0 && logits) request.on_logits = [&output](std::span<const float> row) { output.logits.insert(output.logits.end(), row.begin(), row.end()); };
    auto id = engine.submit(std::move(request));
    REQUIRE(id.ok());
    ids.push_back(*id);
  }
  while (engine.step()) {
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto completion = engine.take(ids[i])[0];
    if (i == 0) output.tokens = completion.token_ids;
    output.drafted += completion.speculation.drafted;
    output.correct += completion.speculation.correct_drafts;
  }
  return output;
}

}  // namespace

TEST_CASE("forty questions give the same tokens, and five the same logits, with the drafter as without") {
  const bool everything = std::getenv("OUTRIDER_LONG") != nullptr;
  const int32_t max_tokens = everything ? 64 : 16;
  const auto isas = kernels::available_isas();
  std::vector<Setting> settings;
  for (const int32_t draft_tokens : {1, 4, 8}) {
    for (const bool tree : {false, true}) {
      for (const size_t batch : {1UL, 3UL, 8UL}) settings.push_back({0, draft_tokens, tree, batch, kernels::best_isa()});
    }
  }

  auto plain_model = open("none", {0, 1, false, 1, kernels::best_isa()});
  const auto prompts = read_prompts(plain_model->runtime);
  std::map<std::pair<size_t, int32_t>, Output> plain;  // by question and seed
  const auto expected = [&](size_t question, int32_t seed) -> const Output& {
    auto& output = plain[{question, seed}];
    if (output.tokens.empty()) output = decode(*plain_model->runtime.engine, prompts, question, 1, seed, max_tokens, question < kWithLogits);
    return output;
  };

  int64_t drafted = 0, correct = 0;
  size_t compared = 0;
  const auto compare = [&](scheduler::Engine& engine, const Setting& s, size_t question, int32_t seed) {
    CAPTURE(question, seed, s.draft_tokens, s.tree, s.batch, kernels::isa_name(s.isa));
    const Output output = decode(engine, prompts, question, s.batch, seed, max_tokens, question < kWithLogits);
    REQUIRE(output == expected(question, seed));
    drafted += output.drafted, correct += output.correct, ++compared;
  };

  for (size_t i = 0; i < settings.size(); ++i) {
    auto model = open("ngram", settings[i]);
    for (size_t question = 0; question < prompts.size(); ++question) {
      for (int32_t seed = 0; seed <= 3; ++seed) {
        if (everything || (question % settings.size() == i && static_cast<size_t>(seed) == question / 2 % 4)) {
          compare(*model->runtime.engine, settings[i], question, seed);
        }
      }
    }
  }
  // The other instruction sets against the same plain outputs. The scalar one is the slow specification: one question, few tokens long.
  for (const kernels::Isa isa : isas) {
    if (isa == kernels::best_isa() || isa == kernels::Isa::scalar) continue;
    const Setting setting{0, 8, true, 3, isa};
    auto model = open("ngram", setting);
    for (size_t question = 0; question < (everything ? prompts.size() : 3); ++question) compare(*model->runtime.engine, setting, question, static_cast<int32_t>(question % 4));
  }
  CHECK(compared >= kQuestions);
  CHECK(drafted > 200);  // there was something to be wrong about
  CHECK(correct > 20);
}

TEST_CASE("logits have the same bits plainly and with the drafter, on every instruction set, at one thread and two, for every model that is here") {
  const char *folder = std::getenv("OUTRIDER_MODELS"), *home = std::getenv("HOME");
  const std::filesystem::path models = folder != nullptr ? folder : std::string(home != nullptr ? home : "") + "/.cache/outrider/models";
  int64_t drafted = 0;
  for (const std::string name : {"smollm2-135m-instruct", "qwen2.5-coder-0.5b-instruct", "gemma-3-270m"}) {
    if (!std::filesystem::exists(models / (name + ".gguf"))) continue;  // the first one is what make test fetches
    Output expected;
    for (const kernels::Isa isa : kernels::available_isas()) {
      if (isa == kernels::Isa::scalar) continue;  // plain loops would take minutes; the tiny models of test_model hold them to the same bits
      for (const int threads : {1, 2}) {
        for (const std::string drafter : {"none", "ngram"}) {
          CAPTURE(name, kernels::isa_name(isa), threads, drafter);
          auto model = open(drafter, {0, 4, true, 1, isa, threads}, name);
          // Words that come again, so that the drafter has something to propose.
          const auto prompt = model->runtime.tokenizer->encode("one two three four one two three four one two", true, true);
          const Output output = decode(*model->runtime.engine, {prompt}, 0, 1, 0, 12, true);
          if (expected.tokens.empty()) expected = output;
          REQUIRE(output == expected);
          drafted += output.drafted;
        }
      }
    }
  }
  CHECK(drafted > 0);
}

TEST_CASE("a model with sliding windows gives the same tokens and logits with the drafter as without, before and beyond its window") {
  const std::string name = "gemma-3-270m";
  const char *folder = std::getenv("OUTRIDER_MODELS"), *home = std::getenv("HOME");
  const std::filesystem::path models = folder != nullptr ? folder : std::string(home != nullptr ? home : "") + "/.cache/outrider/models";
  const auto path = models / (name + ".gguf");
  if (!std::filesystem::exists(path)) {
    WARN("SKIPPED: " << path << " is not there; scripts/fetch-model " << name << " fetches it");
    return;
  }
  auto plain_model = open("none", {0, 1, false, 1, kernels::best_isa()}, name);
  const auto window = static_cast<size_t>(plain_model->runtime.target->architecture().window);
  // A base model: prompts go in as they stand. The first one crosses the window while it is continued, the second one is beyond it.
  const auto questions = read_questions(kQuestions);
  std::vector<std::vector<int32_t>> prompts(2);
  for (const std::string& question : questions) {
    const auto ids = plain_model->runtime.tokenizer->encode(question, true, true);
    for (size_t i = 0; i < 2; ++i) prompts[i].insert(prompts[i].end(), ids.begin(), ids.end());
    if (ids.size() < 120 && prompts.size() < 4) prompts.push_back(ids);
  }
  REQUIRE(prompts.size() == 4);
  REQUIRE(prompts[1].size() > window + 40);
  prompts[0].resize(window - 4), prompts[1].resize(window + 40);

  constexpr int32_t kMaxTokens = 32;
  int64_t drafted = 0, correct = 0;
  std::map<std::pair<size_t, int32_t>, Output> plain;  // by prompt and seed
  const kernels::Isa isa = kernels::best_isa();
  for (const Setting& setting : {Setting{0, 4, false, 1, isa}, Setting{0, 8, true, 3, isa}, Setting{5, 8, true, 1, isa}}) {
    auto model = open("ngram", setting, name);
    for (size_t prompt = 0; prompt < prompts.size(); ++prompt) {
      CAPTURE(prompt, setting.seed, setting.draft_tokens, setting.tree, setting.batch);
      auto& expected = plain[{prompt, setting.seed}];
      if (expected.tokens.empty()) expected = decode(*plain_model->runtime.engine, prompts, prompt, 1, setting.seed, kMaxTokens, true);
      const Output output = decode(*model->runtime.engine, prompts, prompt, setting.batch, setting.seed, kMaxTokens, true);
      REQUIRE(output == expected);
      drafted += output.drafted, correct += output.correct;
    }
  }
  CHECK(drafted > 50);
  CHECK(correct > 10);
}
