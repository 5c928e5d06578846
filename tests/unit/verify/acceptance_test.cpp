#include "verify/acceptance.hpp"

#include <catch2/catch.hpp>

using namespace outrider::verify;
using outrider::kernels::Isa;

namespace {

// Rows whose argmax is given: rows[0] is the root's, rows[1 + node] the node's.
struct Rows {
  std::vector<std::vector<float>> logits;
  explicit Rows(const std::vector<int32_t>& best) {
    for (const int32_t token : best) {
      logits.emplace_back(10, 0.0F);
      logits.back()[static_cast<size_t>(token)] = 1.0F;
    }
  }
  TargetRow operator()(int32_t node) const { return {logits[static_cast<size_t>(node + 1)]}; }
};

Acceptance walk(const DraftTree& draft, const std::vector<int32_t>& best, int32_t stop_at = -1) {
  const Rows rows(best);
  TokenLaw law({}, 1, {}, Isa::scalar);
  Acceptance result;
  REQUIRE(accept(
              draft, law, 0, [&](int32_t node) { return rows(node); }, [&](int32_t token) { return token != stop_at; }, result)
              .ok());
  return result;
}

}  // namespace

TEST_CASE("without a draft the root's row gives one token") {
  const auto result = walk({}, {4});
  CHECK(result.nodes.empty());
  CHECK(result.tokens == std::vector<int32_t>{4});
}

TEST_CASE("a chain is accepted as far as it equals the target's tokens, and the row after gives the bonus") {
  const DraftTree chain{{4, 5, 6}, {-1, 0, 1}, {}};
  CHECK(walk(chain, {4, 5, 6, 7}).tokens == std::vector<int32_t>{4, 5, 6, 7});
  CHECK(walk(chain, {4, 5, 6, 7}).nodes == std::vector<int32_t>{0, 1, 2});
  CHECK(walk(chain, {4, 9, 6, 7}).tokens == std::vector<int32_t>{4, 9});
  CHECK(walk(chain, {4, 9, 6, 7}).nodes == std::vector<int32_t>{0});
  CHECK(walk(chain, {3, 5, 6, 7}).tokens == std::vector<int32_t>{3});
}

TEST_CASE("in a tree the walk takes the sibling that equals the target's token") {
  //        root
  //       4    5
  //      6 7    7
  const DraftTree tree{{4, 5, 6, 7, 7}, {-1, -1, 0, 0, 1}, {}};
  const auto left = walk(tree, {4, 7, 0, 0, 8, 0});
  CHECK(left.nodes == std::vector<int32_t>{0, 3});
  CHECK(left.tokens == std::vector<int32_t>{4, 7, 8});
  const auto right = walk(tree, {5, 0, 7, 0, 0, 9});
  CHECK(right.nodes == std::vector<int32_t>{1, 4});
  CHECK(right.tokens == std::vector<int32_t>{5, 7, 9});
}

TEST_CASE("a token that ends the output ends the walk, and drafts behind it are not accepted") {
  const DraftTree chain{{4, 5, 6}, {-1, 0, 1}, {}};
  const auto result = walk(chain, {4, 5, 6, 7}, 5);
  CHECK(result.tokens == std::vector<int32_t>{4, 5});
  CHECK(result.nodes == std::vector<int32_t>{0});
}

TEST_CASE("penalties see the drafted prefix of the node they apply to") {
  SamplingParams params;
  params.presence_penalty = 5.0F;
  const DraftTree chain{{4, 4}, {-1, 0}, {}};
  const Rows rows({4, 4, 4});
  TokenLaw law(params, 1, {}, Isa::scalar);
  Acceptance result;
  REQUIRE(accept(
              chain, law, 0, [&](int32_t node) { return rows(node); }, [](int32_t) { return true; }, result)
              .ok());
  CHECK(result.tokens == std::vector<int32_t>{4, 0});  // the second 4 is penalised, though both were drafted
}

TEST_CASE("a row that cannot be sampled is an error") {
  const DraftTree none;
  TokenLaw law({}, 1, {}, Isa::scalar);
  const std::vector<float> row{0.0F, std::numeric_limits<float>::quiet_NaN()};
  Acceptance result;
  CHECK_FALSE(accept(
                  none, law, 3, [&](int32_t) { return TargetRow{row}; }, [](int32_t) { return true; }, result)
                  .ok());
}
