#include "scheduler/engine.hpp"

#include <catch2/catch.hpp>

#include "support/fake_drafter.hpp"
#include "support/tiny_model.hpp"

using namespace outrider;
using scheduler::Completion;
using scheduler::Engine;
using scheduler::FinishReason;
using scheduler::Request;

namespace {

struct Rig {
  kernels::ThreadPool pool{1};
  std::unique_ptr<model::Transformer> target = tests::tiny_model(pool, kernels::best_isa());
  std::unique_ptr<text::Tokenizer> tokenizer = tests::tiny_tokenizer();
  Engine engine;
  explicit Rig(scheduler::EngineOptions options = {}) : engine(*target, *tokenizer, options) {}

  Completion run(Request request) {
    auto completions = engine.complete(std::move(request));
    REQUIRE(completions.ok());
    REQUIRE(completions->size() == 1);
    return (*completions)[0];
  }
  std::string refusal(Request request) {
    auto id = engine.submit(std::move(request));
    REQUIRE_FALSE(id.ok());
    return id.error().message;
  }
};

Request request(std::vector<int32_t> prompt, int32_t max_tokens = 20) {
  Request r;
  r.prompt = std::move(prompt);
  r.sampling.max_tokens = max_tokens;
  r.sampling.ignore_eos = true;
  return r;
}

}  // namespace

TEST_CASE("a request ends by length with exactly max_tokens tokens") {
  Rig rig;
  const auto c = rig.run(request({1, 2, 3}, 7));
  CHECK(c.finish_reason == FinishReason::length);
  CHECK(c.token_ids.size() == 7);
  CHECK(c.prompt_tokens == 3);
  CHECK(c.drafter == "none");
  CHECK(c.speculation.rounds == 6);  // the first token comes of the prefill
  CHECK(c.timing.decode_tokens == 6);
}

TEST_CASE("a request for no tokens ends at once") {
  Rig rig;
  const auto c = rig.run(request({1}, 0));
  CHECK(c.finish_reason == FinishReason::length);
  CHECK(c.token_ids.empty());
}

TEST_CASE("the context's end stops a request that names no length") {
  scheduler::EngineOptions options;
  options.context_length = 40;
  Rig rig(options);
  const auto c = rig.run(request({1, 2, 3, 4}, std::numeric_limits<int32_t>::max()));
  CHECK(c.finish_reason == FinishReason::length);
  CHECK(c.token_ids.size() == 36);
}

TEST_CASE("a prompt of one token and a prompt longer than a chunk are both read") {
  scheduler::EngineOptions options;
  options.prefill_chunk = 5;
  Rig rig(options), whole;
  std::vector<int32_t> prompt;
  for (int i = 0; i < 33; ++i) prompt.push_back(i % 47);
  CHECK(rig.run(request(prompt)).token_ids == whole.run(request(prompt)).token_ids);
  CHECK(rig.run(request({5})).token_ids == whole.run(request({5})).token_ids);
}

TEST_CASE("a stop token ends the output, is part of its tokens and not of its text") {
  Rig rig;
  const auto free = rig.run(request({1, 2, 3}));
  auto r = request({1, 2, 3});
  r.sampling.stop_tokens = {free.token_ids[4]};
  const auto c = rig.run(r);
  size_t first = 0;
  while (free.token_ids[first] != free.token_ids[4]) ++first;
  CHECK(c.finish_reason == FinishReason::stop);
  CHECK(c.token_ids == std::vector<int32_t>(free.token_ids.begin(), free.token_ids.begin() + static_cast<std::ptrdiff_t>(first) + 1));
  CHECK(c.text == free.text.substr(0, first));  // one letter a token here
}

TEST_CASE("a stop text ends the output at the token that completes it and is not part of the text") {
  Rig rig;
  const auto free = rig.run(request({1, 2, 3}));
  const std::string stop = free.text.substr(6, 3);
  const size_t at = free.text.find(stop);
  auto r = request({1, 2, 3});
  r.sampling.stop = {stop};
  const auto c = rig.run(r);
  CHECK(c.finish_reason == FinishReason::stop);
  CHECK(c.text == free.text.substr(0, at));
  CHECK(c.token_ids.size() == at + 3);
}

TEST_CASE("what is streamed is what the completion holds") {
  Rig rig;
  auto r = request({1, 2, 3});
  std::string text;
  std::vector<int32_t> tokens;
  r.on_output = [&](const scheduler::StreamEvent& event) {
    CHECK(event.completion == 0);
    text += event.text;
    tokens.insert(tokens.end(), event.tokens.begin(), event.tokens.end());
  };
  const auto c = rig.run(r);
  CHECK(text == c.text);
  CHECK(tokens == c.token_ids);
}

TEST_CASE("n completions of one prompt differ by seed, and the first equals a request for one") {
  Rig rig;
  auto r = request({1, 2, 3});
  r.sampling.temperature = 1.5F;
  r.sampling.seed = 9;
  const auto one = rig.run(r);
  r.sampling.n = 3;
  auto three = rig.engine.complete(r);
  REQUIRE(three.ok());
  REQUIRE(three->size() == 3);
  CHECK((*three)[0].token_ids == one.token_ids);
  CHECK((*three)[1].token_ids != one.token_ids);
  CHECK((*three)[2].token_ids != (*three)[1].token_ids);
}

TEST_CASE("requests that do not fit wait and are served in order") {
  scheduler::EngineOptions options;
  options.max_running_requests = 2;
  options.kv_positions = 96;
  Rig rig(options);
  std::vector<uint64_t> ids;
  for (int i = 0; i < 7; ++i) {
    auto id = rig.engine.submit(request({1, 2, i}, 10));
    REQUIRE(id.ok());
    ids.push_back(*id);
  }
  while (rig.engine.step()) {
  }
  Rig alone;
  for (int i = 0; i < 7; ++i) {
    REQUIRE(rig.engine.finished(ids[static_cast<size_t>(i)]));
    CHECK(rig.engine.take(ids[static_cast<size_t>(i)])[0].token_ids == alone.run(request({1, 2, i}, 10)).token_ids);
  }
}

TEST_CASE("a request that can never fit the cache ends with an error that says what to change") {
  scheduler::EngineOptions options;
  options.kv_positions = 32;
  Rig rig(options);
  const auto c = rig.run(request({1, 2}, 100));
  CHECK(c.finish_reason == FinishReason::error);
  CHECK(c.error.find("memory.kv_tokens") != std::string::npos);
  CHECK(rig.run(request({1, 2}, 10)).token_ids.size() == 10);
}

TEST_CASE("a bad request is refused with its reason, and the engine goes on") {
  scheduler::EngineOptions options;
  options.queue_capacity = 1;
  Rig rig(options);
  CHECK(rig.refusal(request({})).rfind("prompt: expected at least one token", 0) == 0);
  CHECK(rig.refusal(request(std::vector<int32_t>(512, 1))).rfind("prompt: expected fewer tokens than the context of 512, found 512", 0) == 0);
  CHECK(rig.refusal(request({48})).rfind("prompt: expected tokens from 0 to 47, found 48", 0) == 0);
  CHECK(rig.refusal(request({-1})).rfind("prompt: ", 0) == 0);
  auto hot = request({1});
  hot.sampling.temperature = -1;
  CHECK(rig.refusal(hot).rfind("temperature: ", 0) == 0);
  auto drafted = request({1});
  drafted.drafter = "nobody";
  CHECK(rig.refusal(drafted).rfind("drafter: expected one of none, found 'nobody'", 0) == 0);
  REQUIRE(rig.engine.submit(request({1})).ok());
  CHECK(rig.refusal(request({1})).rfind("queue: 1 of 1 places are taken", 0) == 0);
}

TEST_CASE("a cancelled request ends with what it has, waiting or running") {
  scheduler::EngineOptions options;
  options.max_running_requests = 1;
  Rig rig(options);
  auto first = rig.engine.submit(request({1, 2}, 100)), second = rig.engine.submit(request({3}, 100));
  for (int i = 0; i < 5; ++i) rig.engine.step();
  rig.engine.cancel(*first);
  rig.engine.cancel(*second);
  while (rig.engine.step()) {
  }
  const auto a = rig.engine.take(*first), b = rig.engine.take(*second);
  CHECK(a[0].finish_reason == FinishReason::cancelled);
  CHECK(a[0].token_ids.size() == 5);
  CHECK(b[0].finish_reason == FinishReason::cancelled);
  CHECK(b[0].token_ids.empty());
}

TEST_CASE("a drafter's name is taken once, and none is reserved") {
  Rig rig;
  CHECK_FALSE(rig.engine.add_drafter("none", std::make_unique<tests::FakeDrafter>(tests::nothing())).ok());
  CHECK(rig.engine.add_drafter("a", std::make_unique<tests::FakeDrafter>(tests::nothing())).ok());
  CHECK_FALSE(rig.engine.add_drafter("a", std::make_unique<tests::FakeDrafter>(tests::nothing())).ok());
  CHECK(rig.engine.cost_curve().size() > 8);
}
