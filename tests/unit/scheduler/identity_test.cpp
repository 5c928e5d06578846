// The first promise: a drafter can change only the speed. Token ids and logits' bits are those of plain decoding for every kind of draft.
#include <catch2/catch.hpp>
#include <cstring>

#include "scheduler/engine.hpp"
#include "support/fake_drafter.hpp"
#include "support/tiny_model.hpp"

using namespace outrider;
using scheduler::Completion;
using scheduler::Engine;
using scheduler::Request;

namespace {

constexpr int32_t kVocab = 48;

struct Setting {
  float temperature;
  float repetition_penalty;
};

Request request(int32_t number, const Setting& setting) {
  Request r;
  for (int32_t i = 0; i < 5 + number * 3; ++i) r.prompt.push_back((i * 7 + number) % (kVocab - 1));
  r.sampling.max_tokens = 30 + number;
  r.sampling.ignore_eos = true;
  r.sampling.temperature = setting.temperature;
  r.sampling.repetition_penalty = setting.repetition_penalty;
  r.sampling.top_p = setting.temperature > 0 ? 0.95F : 1.0F;
  r.sampling.seed = static_cast<uint64_t>(number) + 1;
  return r;
}

struct Run {
  std::vector<int32_t> tokens;
  std::vector<float> logits;
  int64_t correct_drafts = 0;
};

std::vector<Run> run(model::Transformer& target, const text::Tokenizer& tokenizer, scheduler::EngineOptions options, const Setting& setting, int32_t requests,
                     std::unique_ptr<drafting::Drafter> drafter) {
  Engine engine(target, tokenizer, options);
  if (drafter != nullptr) REQUIRE(engine.add_drafter("fake", std::move(drafter)).ok());
  std::vector<Run> runs(static_cast<size_t>(requests));
  std::vector<uint64_t> ids;
  for (int32_t i = 0; i < requests; ++i) {
    Request r = request(i, setting);
    r.on_logits = [&runs, i](std::span<const float> row) {
      auto& logits = runs[static_cast<size_t>(i)].logits;
      logits.insert(logits.end(), row.begin(), row.end());
    };
    ids.push_back(*engine.submit(std::move(r)));
    engine.step();  // so that requests join at different steps
  }
  while (engine.step()) {
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    const Completion c = engine.take(ids[i])[0];
    runs[i].tokens = c.token_ids;
    runs[i].correct_drafts = c.speculation.correct_drafts;
  }
  return runs;
}

// Every kind of draft, in each setting, against plain decoding.
void check_identity(const tests::TinyModelOptions& form, const std::vector<Setting>& settings, const std::vector<int32_t>& request_counts,
                    const std::vector<int32_t>& draft_lengths, kernels::KvType kv_type = kernels::KvType::f16) {
  kernels::ThreadPool pool(1);
  const auto made = tests::tiny_model(pool, kernels::best_isa(), form);
  model::Transformer& target = *made;
  const auto tokenizer = tests::tiny_tokenizer(kVocab);
  for (const Setting& setting : settings) {
    for (const int32_t requests : request_counts) {
      scheduler::EngineOptions options;
      options.use_planner = false;
      options.prefill_chunk = 6;
      options.kv_type = kv_type;
      const auto plain = run(target, *tokenizer, options, setting, requests, nullptr);
      std::vector<int32_t> truth = request(0, setting).prompt;
      truth.insert(truth.end(), plain[0].tokens.begin(), plain[0].tokens.end());
      const std::pair<const char*, tests::Propose> drafters[] = {
          {"nothing", tests::nothing()},
          {"random tree", tests::random_tree(kVocab)},
          {"always right chain", tests::oracle(truth, kVocab, 0.0, false)},
          {"mostly right chain", tests::oracle(truth, kVocab, 0.3, false)},
          {"mostly right tree", tests::oracle(truth, kVocab, 0.2, true)},
          {"always wrong chain", tests::oracle(truth, kVocab, 1.0, false)},
      };
      for (const int32_t draft_tokens : draft_lengths) {
        options.draft_tokens = draft_tokens;
        for (const auto& [name, propose] : drafters) {
          CAPTURE(setting.temperature, setting.repetition_penalty, requests, draft_tokens, name);
          const auto drafted = run(target, *tokenizer, options, setting, requests, std::make_unique<tests::FakeDrafter>(propose));
          for (size_t i = 0; i < plain.size(); ++i) {
            REQUIRE(drafted[i].tokens == plain[i].tokens);
            REQUIRE(drafted[i].logits.size() == plain[i].logits.size());
            REQUIRE(std::memcmp(drafted[i].logits.data(), plain[i].logits.data(), plain[i].logits.size() * sizeof(float)) == 0);
          }
          if (std::string(name) == "always right chain") CHECK(drafted[0].correct_drafts >= static_cast<int64_t>(plain[0].tokens.size()) / 2 - 1);
          if (std::string(name) == "always wrong chain") CHECK(drafted[0].correct_drafts == 0);
          if (std::string(name) == "mostly right tree" && draft_tokens >= 4) CHECK(drafted[0].correct_drafts > 5);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("tokens and logits' bits equal plain decoding's with any drafter, draft length, batch size and law") {
  check_identity({}, {{0.0F, 1.0F}, {0.0F, 1.3F}, {0.8F, 1.0F}, {1.2F, 1.1F}}, {1, 3, 8}, {1, 4, 8, 17});
}

TEST_CASE("so they do with norms of heads, and with windows shorter than a draft, than a page and than the prompt") {
  tests::TinyModelOptions form;
  form.family = "qwen3";
  check_identity(form, {{0.0F, 1.0F}, {0.8F, 1.0F}}, {3}, {8});
  form.family = "gemma3";
  for (const int32_t window : {3, 11, 16, 25}) {
    form.window = window;
    check_identity(form, {{0.0F, 1.0F}, {0.8F, 1.0F}}, {1, 3}, {4, 17});
  }
}

TEST_CASE("so they do with keys and values of Q8_0, with and without a window") {
  check_identity({}, {{0.0F, 1.0F}, {0.8F, 1.0F}}, {1, 3}, {4, 17}, kernels::KvType::q8_0);
  tests::TinyModelOptions form;
  form.family = "gemma3";
  form.window = 11;
  check_identity(form, {{0.0F, 1.0F}}, {3}, {8}, kernels::KvType::q8_0);
}

TEST_CASE("every instruction set decodes the same tokens and logits' bits with keys and values of Q8_0, and other logits than with F16") {
  kernels::ThreadPool pool(1);
  const auto tokenizer = tests::tiny_tokenizer(kVocab);
  const Setting setting{0.8F, 1.0F};
  scheduler::EngineOptions options;
  options.kv_type = kernels::KvType::q8_0;
  std::vector<Run> scalar;
  for (const kernels::Isa isa : kernels::available_isas()) {
    const auto target = tests::tiny_model(pool, isa);
    const auto runs = run(*target, *tokenizer, options, setting, 3, nullptr);
    if (isa == kernels::Isa::scalar) scalar = runs;
    for (size_t i = 0; i < runs.size(); ++i) {
      CAPTURE(kernels::isa_name(isa), i);
      REQUIRE(runs[i].tokens == scalar[i].tokens);
      REQUIRE(runs[i].logits.size() == scalar[i].logits.size());
      REQUIRE(std::memcmp(runs[i].logits.data(), scalar[i].logits.data(), scalar[i].logits.size() * sizeof(float)) == 0);
    }
  }
  options.kv_type = kernels::KvType::f16;
  const auto target = tests::tiny_model(pool, kernels::Isa::scalar);
  CHECK(run(*target, *tokenizer, options, setting, 3, nullptr)[0].logits != scalar[0].logits);
}

TEST_CASE("the planner changes no token") {
  kernels::ThreadPool pool(1);
  const auto target = tests::tiny_model(pool, kernels::best_isa());
  const auto tokenizer = tests::tiny_tokenizer(kVocab);
  const Setting setting{0.8F, 1.0F};
  scheduler::EngineOptions options;
  const auto plain = run(*target, *tokenizer, options, setting, 3, nullptr);
  std::vector<int32_t> truth = request(0, setting).prompt;
  truth.insert(truth.end(), plain[0].tokens.begin(), plain[0].tokens.end());
  const auto drafted = run(*target, *tokenizer, options, setting, 3, std::make_unique<tests::FakeDrafter>(tests::oracle(truth, kVocab, 0.4, false)));
  for (size_t i = 0; i < plain.size(); ++i) CHECK(drafted[i].tokens == plain[i].tokens);
}
