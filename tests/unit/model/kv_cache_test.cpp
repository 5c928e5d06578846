#include "model/kv_cache.hpp"

#include <catch2/catch.hpp>
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
