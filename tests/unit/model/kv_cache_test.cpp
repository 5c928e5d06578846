#include "model/kv_cache.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <set>

#include "support/tiny_model.hpp"

using namespace outrider;

TEST_CASE("a sequence's pages are its own until it is released") {
  model::KvCache cache(tests::tiny_architecture({}), kernels::KvType::f16, 100);  // 7 pages
  CHECK(cache.capacity() == 112);
  auto a = cache.reserve(40), b = cache.reserve(64);
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->capacity() == 48);
  std::set<int32_t> pages(a->pages.begin(), a->pages.end());
  pages.insert(b->pages.begin(), b->pages.end());
  CHECK(pages.size() == 7);
  CHECK_FALSE(cache.reserve(1));
  cache.release(*a);
  CHECK(cache.available() == 48);
  CHECK(cache.reserve(48));
}

TEST_CASE("reserving nothing takes no page") {
  model::KvCache cache(tests::tiny_architecture({}), kernels::KvType::f32, 16);
  auto none = cache.reserve(0);
  REQUIRE(none);
  CHECK(none->capacity() == 0);
  CHECK(cache.available() == 16);
}

TEST_CASE("a cache of Q8_0 takes 17 bytes where one of F16 takes 32, when heads are whole blocks") {
  const model::Architecture architecture = tests::tiny_architecture({.family = "gemma3"});  // heads of 32 features
  REQUIRE(architecture.head_dim % 32 == 0);
  const model::KvCache f16(architecture, kernels::KvType::f16, 64), q8_0(architecture, kernels::KvType::q8_0, 64);
  CHECK(q8_0.bytes() * 32 == f16.bytes() * 17);
}

TEST_CASE("an accepted path's Q8_0 quants and scales are moved as they are, in every layer") {
  const model::Architecture architecture = tests::tiny_architecture({});
  const auto features = static_cast<size_t>(architecture.kv_heads) * static_cast<size_t>(architecture.head_dim);
  model::KvCache moved(architecture, kernels::KvType::q8_0, 64), direct(architecture, kernels::KvType::q8_0, 64);
  const std::vector<int32_t> from = {7, 9, 18, 40};
  auto a = moved.reserve(64), b = direct.reserve(64);
  const auto store = [&](model::KvCache& cache, const model::KvSequence& sequence, int32_t layer, int32_t slot, size_t node) {
    std::vector<float> k(features), v(features);
    for (size_t i = 0; i < features; ++i) {
      k[i] = std::sin(static_cast<float>(i + 31 * node));
      v[i] = std::cos(static_cast<float>(i * 3 + node));
    }
    kernels::kv_store(kernels::best_isa(), cache.layer(layer), sequence.pages.data(), slot, k.data(), v.data());
  };
  for (int32_t layer = 0; layer < architecture.layers; ++layer)
    for (size_t node = 0; node < from.size(); ++node) {
      store(moved, *a, layer, from[node], node);
      store(direct, *b, layer, from[node], node);
    }
  moved.commit_path(*a, from, 5);
  for (int32_t layer = 0; layer < architecture.layers; ++layer)
    for (size_t node = 0; node < from.size(); ++node) store(direct, *b, layer, 5 + static_cast<int32_t>(node), node);
  for (int32_t layer = 0; layer < architecture.layers; ++layer)
    CHECK(std::memcmp(moved.layer(layer).data, direct.layer(layer).data, 4 * moved.layer(0).page_bytes()) == 0);
}

TEST_CASE("the configuration's names are the cache's types, and auto is F16") {
  CHECK(model::kv_type_of("auto") == kernels::KvType::f16);
  CHECK(model::kv_type_of("f16") == kernels::KvType::f16);
  CHECK(model::kv_type_of("f32") == kernels::KvType::f32);
  CHECK(model::kv_type_of("q8_0") == kernels::KvType::q8_0);
}
