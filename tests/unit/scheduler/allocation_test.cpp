// The step loop allocates nothing once it is warm.
#include <catch2/catch.hpp>

#include "scheduler/engine.hpp"
#include "support/counted_new.hpp"
#include "support/fake_drafter.hpp"
#include "support/tiny_model.hpp"

using namespace outrider;

namespace {

// Allocations of 150 steps after 300 others, with `requests` requests at once. Buffers of attention double as contexts grow; 300 to 450
// tokens lie between two such moments.
uint64_t allocations_of_steps(const tests::Propose& propose, float temperature, int requests) {
  kernels::ThreadPool pool(2);
  const auto target = tests::tiny_model(pool, kernels::best_isa(), {.context_length = 2048});
  const auto tokenizer = tests::tiny_tokenizer();
  scheduler::EngineOptions options;
  options.use_planner = false;
  scheduler::Engine engine(*target, *tokenizer, options);
  if (propose) REQUIRE(engine.add_drafter("fake", std::make_unique<tests::FakeDrafter>(propose)).ok());
  uint64_t streamed = 0;
  for (int i = 0; i < requests; ++i) {
    scheduler::Request request;
    request.prompt = {1, 2, 3 + i};
    request.sampling.max_tokens = 1900;
    request.sampling.ignore_eos = true;
    request.sampling.temperature = temperature;
    request.sampling.seed = 7;
    request.on_output = [&streamed](const scheduler::StreamEvent& event) { streamed += event.tokens.size(); };
    REQUIRE(engine.submit(std::move(request)).ok());
  }
  for (int i = 0; i < 300; ++i) REQUIRE(engine.step());
  const uint64_t before = tests::allocations(), streamed_before = streamed;
  for (int i = 0; i < 150; ++i) engine.step();
  const uint64_t after = tests::allocations();
  CHECK(streamed >= streamed_before + 150 * static_cast<uint64_t>(requests));
  return after - before;
}

// A chain whose every token is wrong but now and then, without memory of its own.
void chain(drafting::DraftRequest& item, std::mt19937& random) {
  for (int32_t i = 0; i < item.max_nodes && i < item.max_depth; ++i) {
    item.draft.tokens.push_back(static_cast<int32_t>(random() % 47));
    item.draft.parents.push_back(i - 1);
  }
}

// A tree of two branches.
void tree(drafting::DraftRequest& item, std::mt19937& random) {
  const auto first = static_cast<int32_t>(random() % 40);
  for (int32_t i = 0; i < item.max_nodes; ++i) {
    item.draft.tokens.push_back(first + i % 2 + (i < 2 ? 0 : 3));
    item.draft.parents.push_back(i < 2 ? -1 : i - 2);
    if (i / 2 + 1 >= item.max_depth && i % 2 == 1) break;
  }
}

}  // namespace

TEST_CASE("this test counts allocations") {
  const uint64_t before = tests::allocations();
  int* volatile kept = new int(1);  // volatile: the pair may be left out otherwise
  delete kept;
  CHECK(tests::allocations() == before + 1);
}

TEST_CASE("steps of plain decoding allocate nothing") {
  CHECK(allocations_of_steps(nullptr, 0.0F, 1) == 0);
  CHECK(allocations_of_steps(nullptr, 0.0F, 5) == 0);
}

TEST_CASE("steps that sample allocate nothing") { CHECK(allocations_of_steps(nullptr, 0.8F, 2) == 0); }

TEST_CASE("steps with drafts, chains or trees, allocate nothing") {
  CHECK(allocations_of_steps(chain, 0.0F, 1) == 0);
  CHECK(allocations_of_steps(chain, 0.0F, 3) == 0);
  CHECK(allocations_of_steps(tree, 0.0F, 2) == 0);
}
