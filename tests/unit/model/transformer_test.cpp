#include "model/transformer.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "kernels/cpu/math.hpp"
#include "support/tiny_model.hpp"

using namespace outrider;
using kernels::Isa;

namespace {

using Logits = std::vector<float>;

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

// Logits of every position of `tokens`, run in passes of `chunk` rows.
std::vector<Logits> run_chunks(model::Transformer& target, const std::vector<int32_t>& tokens, size_t chunk) {
  model::KvCache cache(target.architecture(), kernels::KvType::f16, 512);
  auto sequence = cache.reserve(static_cast<int64_t>(tokens.size()));
  std::vector<Logits> all;
  for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
    model::Batch batch;
    const size_t end = std::min(tokens.size(), begin + chunk);
    for (size_t i = begin; i < end; ++i) batch.add_contiguous(tokens[i], static_cast<int32_t>(i), &*sequence, model::Want::logits);
    const auto logits = target.forward(batch, cache).logits;
    const auto vocab = static_cast<size_t>(target.architecture().vocab_size);
    for (size_t i = 0; i < end - begin; ++i) all.emplace_back(logits.begin() + i * vocab, logits.begin() + (i + 1) * vocab);
  }
  return all;
}

std::vector<int32_t> some_tokens(size_t n, uint32_t seed = 5) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens(n);
  for (int32_t& token : tokens) token = static_cast<int32_t>(random() % 47);
  return tokens;
}

// The architectures, and windows that are narrower than a page, a page, and of a length that pages do not divide.
std::vector<tests::TinyModelOptions> every_form() {
  std::vector<tests::TinyModelOptions> forms(5);
  forms[1].family = "qwen3";
  for (size_t i = 2; i < 5; ++i) forms[i].family = "gemma3";
  forms[2].window = 1;
  forms[3].window = 16;
  forms[4].window = 21;
  return forms;
}

}  // namespace

TEST_CASE("a row that wants a token gets the arg max of the logits it would have got, whatever its neighbours want") {
  // More features than one piece of the head, and a vocabulary that is no multiple of a group.
  const tests::TinyModelOptions options{.vocab_size = 2 * 1024 + 333};
  const std::vector<int32_t> tokens = some_tokens(21);
  for (const int threads : {1, 2, 3}) {
    kernels::ThreadPool pool(threads);
    const auto target = tests::tiny_model(pool, kernels::best_isa(), options);
    const auto expected = run_chunks(*target, tokens, tokens.size());
    for (const auto& wants : std::vector<std::vector<model::Want>>{{model::Want::token},
                                                                   {model::Want::logits},
                                                                   {model::Want::token, model::Want::logits},
                                                                   {model::Want::nothing, model::Want::token, model::Want::logits}}) {
      model::KvCache cache(target->architecture(), kernels::KvType::f16, 512);
      auto sequence = cache.reserve(static_cast<int64_t>(tokens.size()));
      model::Batch batch;
      for (size_t i = 0; i < tokens.size(); ++i)
        batch.add_contiguous(tokens[i], static_cast<int32_t>(i), &*sequence, wants[i % wants.size()]);
      const model::Output output = target->forward(batch, cache);
      int32_t next = 0;
      for (size_t i = 0; i < tokens.size(); ++i) {
        const model::Want want = wants[i % wants.size()];
        if (want == model::Want::nothing) continue;
        CHECK(output.arg_max[static_cast<size_t>(next)] == kernels::arg_max(kernels::best_isa(), expected[i].data(), options.vocab_size));
        CHECK(same_bits(output.logits_of(next),
                        want == model::Want::logits ? std::span<const float>(expected[i]) : std::span<const float>()));
        ++next;
      }
      CHECK(output.arg_max.size() == static_cast<size_t>(next));
    }
  }
}

TEST_CASE("of equal logits the lowest token is the arg max, also across threads and pieces, and a NaN anywhere is none") {
  // Every feature of the head is the same row of weights, so all logits are equal.
  const tests::TinyModelOptions options{.vocab_size = 5000, .type = kernels::TensorType::f32};
  for (const bool bad : {false, true}) {
    for (const int threads : {1, 3}) {
      kernels::ThreadPool pool(threads);
      const model::Architecture architecture = tests::tiny_architecture(options);
      model::Weights weights = tests::tiny_weights(architecture, options);
      std::vector<float> head(static_cast<size_t>(architecture.vocab_size) * architecture.hidden_size, 0.5F);
      if (bad) head[static_cast<size_t>(4321) * architecture.hidden_size] = NAN;
      weights.head_storage = kernels::PackedMatrix::pack(kernels::TensorType::f32, architecture.vocab_size, architecture.hidden_size,
                                                         std::as_bytes(std::span(head)));
      model::Transformer target(architecture, std::move(weights), pool, kernels::best_isa());
      model::KvCache cache(target.architecture(), kernels::KvType::f16, 64);
      auto sequence = cache.reserve(1);
      model::Batch batch;
      batch.add_contiguous(3, 0, &*sequence, model::Want::token);
      CHECK(target.forward(batch, cache).arg_max[0] == (bad ? -1 : 0));
    }
  }
}

TEST_CASE("a row's logits have the same bits alone and in a pass of any size, whatever the architecture and its window") {
  kernels::ThreadPool pool(2);
  for (const auto& options : every_form()) {
    for (const Isa isa : kernels::available_isas()) {
      const auto target = tests::tiny_model(pool, isa, options);
      const auto tokens = some_tokens(70);
      const auto alone = run_chunks(*target, tokens, 1);
      for (const size_t chunk : {2UL, 3UL, 7UL, 16UL, 33UL, 70UL}) {
        const auto together = run_chunks(*target, tokens, chunk);
        for (size_t i = 0; i < tokens.size(); ++i) {
          CAPTURE(options.family, options.window, kernels::isa_name(isa), chunk, i);
          REQUIRE(same_bits(alone[i], together[i]));
        }
      }
    }
  }
}

TEST_CASE("passes that end at a chunk of attention give the bits of single rows, with a window across it") {
  kernels::ThreadPool pool(2);
  tests::TinyModelOptions options;
  options.family = "gemma3";
  const auto tokens = some_tokens(280);
  for (const int32_t window : {20, 250, 256}) {
    options.window = window;
    const auto target = tests::tiny_model(pool, kernels::best_isa(), options);
    const auto alone = run_chunks(*target, tokens, 1);
    for (const size_t chunk : {64UL, 255UL, 280UL}) {
      const auto together = run_chunks(*target, tokens, chunk);
      for (size_t i = 0; i < tokens.size(); ++i) {
        CAPTURE(window, chunk, i);
        REQUIRE(same_bits(alone[i], together[i]));
      }
    }
  }
}

TEST_CASE("a window that is as long as the context changes no bit, and one that is shorter by a position changes the last row alone") {
  kernels::ThreadPool pool(1);
  tests::TinyModelOptions options;
  options.family = "gemma3";
  const auto tokens = some_tokens(40);
  const auto logits_of = [&](int32_t window) {
    options.window = window;
    return run_chunks(*tests::tiny_model(pool, kernels::best_isa(), options), tokens, 8);
  };
  const auto wide = logits_of(1000), whole = logits_of(40), narrow = logits_of(39);
  for (size_t i = 0; i < tokens.size(); ++i) CHECK(same_bits(wide[i], whole[i]));
  for (size_t i = 0; i + 1 < tokens.size(); ++i) CHECK(same_bits(wide[i], narrow[i]));
  CHECK_FALSE(same_bits(wide.back(), narrow.back()));
}

TEST_CASE("logits have the same bits on every instruction set and at every thread count, in F32 and Q8_0") {
  for (auto options : every_form())
    for (const auto type : {kernels::TensorType::f32, kernels::TensorType::q8_0}) {
      options.type = type;
      kernels::ThreadPool one(1);
      const auto tokens = some_tokens(40);
      const auto reference = run_chunks(*tests::tiny_model(one, Isa::scalar, options), tokens, 5);
      for (const int threads : {1, 2, 3, 5}) {
        kernels::ThreadPool pool(threads);
        for (const Isa isa : kernels::available_isas()) {
          const auto logits = run_chunks(*tests::tiny_model(pool, isa, options), tokens, 5);
          for (size_t i = 0; i < tokens.size(); ++i) {
            CAPTURE(options.family, options.window, kernels::isa_name(isa), threads, i);
            REQUIRE(same_bits(reference[i], logits[i]));
          }
        }
      }
    }
}

TEST_CASE("a tree node's logits equal its path's decoded plainly, in every architecture, and a committed path goes on as if plain") {
  for (const auto& options : every_form()) {
    CAPTURE(options.family, options.window);
    kernels::ThreadPool pool(2);
    const auto target = tests::tiny_model(pool, kernels::best_isa(), options);
    const auto prompt = some_tokens(21);
    //  root(prompt.back()) -> a(3) -> b(4) , a -> c(5) -> d(6) ; root -> e(7)
    const std::vector<int32_t> node_tokens{3, 7, 4, 5, 6};
    const std::vector<int32_t> parents{-1, -1, 0, 0, 3};
    model::KvCache cache(target->architecture(), kernels::KvType::f16, 256);
    auto sequence = cache.reserve(64);
    const auto vocab = static_cast<size_t>(target->architecture().vocab_size);
    const int32_t root = static_cast<int32_t>(prompt.size()) - 1;
    model::Batch batch;
    for (int32_t i = 0; i < root; ++i) batch.add_contiguous(prompt[static_cast<size_t>(i)], i, &*sequence, model::Want::nothing);
    (void)target->forward(batch, cache);
    batch.clear();
    batch.add_contiguous(prompt.back(), root, &*sequence, model::Want::logits);
    for (int32_t i = 0; i < 5; ++i) {
      std::vector<int32_t> path;
      for (int32_t node = i; node >= 0; node = parents[static_cast<size_t>(node)]) path.insert(path.begin(), root + 1 + node);
      const auto begin = static_cast<int32_t>(batch.paths.size()), depth = static_cast<int32_t>(path.size());
      batch.paths.insert(batch.paths.end(), path.begin(), path.end());
      batch.rows.push_back({node_tokens[static_cast<size_t>(i)], root + depth, &*sequence, root + 1 + i, root + 1, begin, depth, model::Want::logits});
    }
    const auto logits = target->forward(batch, cache).logits;
    const std::vector<Logits> tree = [&] {
      std::vector<Logits> rows;
      for (size_t i = 0; i < 6; ++i) rows.emplace_back(logits.begin() + i * vocab, logits.begin() + (i + 1) * vocab);
      return rows;
    }();

    const auto plain = [&](std::vector<int32_t> continuation) {
      std::vector<int32_t> tokens = prompt;
      tokens.insert(tokens.end(), continuation.begin(), continuation.end());
      return run_chunks(*target, tokens, 1);
    };
    CHECK(same_bits(tree[0], plain({})[prompt.size() - 1]));
    CHECK(same_bits(tree[1], plain({3}).back()));
    CHECK(same_bits(tree[2], plain({7}).back()));
    CHECK(same_bits(tree[3], plain({3, 4}).back()));
    CHECK(same_bits(tree[4], plain({3, 5}).back()));
    CHECK(same_bits(tree[5], plain({3, 5, 6}).back()));

    cache.commit_path(*sequence, {root + 1, root + 4, root + 5}, root + 1);  // 3, 5, 6
    batch.clear();
    batch.add_contiguous(9, root + 4, &*sequence, model::Want::logits);
    const auto next = target->forward(batch, cache).logits;
    CHECK(same_bits(next, plain({3, 5, 6, 9}).back()));
  }
}

TEST_CASE("requests of one pass do not see each other") {
  kernels::ThreadPool pool(2);
  const auto target = tests::tiny_model(pool, kernels::best_isa());
  const auto a = some_tokens(9, 1), b = some_tokens(14, 2);
  const auto expected_a = run_chunks(*target, a, 1), expected_b = run_chunks(*target, b, 1);
  model::KvCache cache(target->architecture(), kernels::KvType::f16, 256);
  auto sequence_a = cache.reserve(16), sequence_b = cache.reserve(16);
  model::Batch batch;
  for (size_t i = 0; i < a.size(); ++i)
    batch.add_contiguous(a[i], static_cast<int32_t>(i), &*sequence_a, i + 1 == a.size() ? model::Want::logits : model::Want::nothing);
  for (size_t i = 0; i < b.size(); ++i)
    batch.add_contiguous(b[i], static_cast<int32_t>(i), &*sequence_b, i + 1 == b.size() ? model::Want::logits : model::Want::nothing);
  const auto logits = target->forward(batch, cache).logits;
  const auto vocab = static_cast<size_t>(target->architecture().vocab_size);
  CHECK(same_bits(logits.subspan(0, vocab), expected_a.back()));
  CHECK(same_bits(logits.subspan(vocab, vocab), expected_b.back()));
}

TEST_CASE("a pass without rows gives no logits, and one that wants none fills the cache") {
  kernels::ThreadPool pool(1);
  const auto target = tests::tiny_model(pool, kernels::best_isa());
  model::KvCache cache(target->architecture(), kernels::KvType::f32, 32);
  CHECK(target->forward({}, cache).arg_max.empty());
  auto sequence = cache.reserve(8);
  model::Batch batch;
  batch.add_contiguous(1, 0, &*sequence, model::Want::nothing);
  CHECK(target->forward(batch, cache).arg_max.empty());
}
