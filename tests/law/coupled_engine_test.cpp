// The sampled law seen through the whole engine: the joint law of the first two output tokens, decoded speculatively, against the law
// that the target's own logits define.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "scheduler/engine.hpp"
#include "support/chi_square.hpp"
#include "support/fake_drafter.hpp"
#include "support/tiny_model.hpp"

using namespace outrider;

namespace {

constexpr int32_t kVocab = 12;
const std::vector<int32_t> kPrompt{1, 5, 2};

// softmax(logits / temperature) of the token after `tokens`.
std::vector<double> next_law(model::Transformer& target, const std::vector<int32_t>& tokens, double temperature) {
  model::KvCache cache(target.architecture(), kernels::KvType::f16, 64);
  auto sequence = cache.reserve(static_cast<int64_t>(tokens.size()));
  model::Batch batch;
  for (size_t i = 0; i < tokens.size(); ++i)
    batch.add_contiguous(tokens[i], static_cast<int32_t>(i), &*sequence,
                         i + 1 == tokens.size() ? model::Want::logits : model::Want::nothing);
  const auto logits = target.forward(batch, cache).logits;
  std::vector<double> law(logits.size());
  double best = -INFINITY, total = 0;
  for (const float logit : logits) best = std::max(best, static_cast<double>(logit));
  for (size_t i = 0; i < law.size(); ++i) total += law[i] = std::exp((static_cast<double>(logits[i]) - best) / temperature);
  for (double& p : law) p /= total;
  return law;
}

}  // namespace

TEST_CASE("two consecutive tokens decoded speculatively have the target's joint law") {
  const int64_t samples = std::getenv("OUTRIDER_LONG") != nullptr ? 500000 : 50000;
  kernels::ThreadPool pool(1);
  tests::TinyModelOptions options;
  options.vocab_size = kVocab;
  options.head_gain = 1.0F;
  const auto target = tests::tiny_model(pool, kernels::best_isa(), options);
  const auto tokenizer = tests::tiny_tokenizer(kVocab);
  const double temperature = 0.9;

  std::vector<double> joint(kVocab * kVocab);
  const auto first = next_law(*target, kPrompt, temperature);
  for (int32_t a = 0; a < kVocab; ++a) {
    auto tokens = kPrompt;
    tokens.push_back(a);
    const auto second = next_law(*target, tokens, temperature);
    for (int32_t b = 0; b < kVocab; ++b)
      joint[static_cast<size_t>(a * kVocab + b)] = first[static_cast<size_t>(a)] * second[static_cast<size_t>(b)];
  }

  scheduler::EngineOptions engine_options;
  engine_options.use_planner = false;
  engine_options.draft_tokens = 4;
  engine_options.max_running_requests = 16;
  scheduler::Engine engine(*target, *tokenizer, engine_options);
  // Random trees over twelve tokens are right often by chance: were a wrong draft ever kept, or a right one lost, the law would bend.
  REQUIRE(engine.add_drafter("fake", std::make_unique<tests::FakeDrafter>(tests::random_tree(kVocab))).ok());

  std::vector<int64_t> counts(joint.size(), 0);
  std::vector<uint64_t> ids;
  int64_t accepted = 0;
  for (int64_t sample = 0; sample < samples;) {
    ids.clear();
    for (int i = 0; i < 500 && sample < samples; ++i, ++sample) {
      scheduler::Request request;
      request.prompt = kPrompt;
      request.sampling.temperature = static_cast<float>(temperature);
      request.sampling.seed = static_cast<uint64_t>(sample) + 1000;
      request.sampling.max_tokens = 3;
      request.sampling.ignore_eos = true;
      ids.push_back(*engine.submit(std::move(request)));
    }
    while (engine.step()) {
    }
    for (const uint64_t id : ids) {
      const auto completion = engine.take(id)[0];
      accepted += completion.speculation.correct_drafts;
      ++counts[static_cast<size_t>(completion.token_ids[0] * kVocab + completion.token_ids[1])];
    }
  }
  CHECK(accepted > samples / 20);  // drafts were accepted often enough to matter
  CHECK(tests::chi_square_accepts(counts, joint, samples));
}
