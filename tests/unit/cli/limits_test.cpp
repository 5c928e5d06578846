#include "cli/limits.hpp"

#include <catch2/catch.hpp>

#include "support/tiny_model.hpp"

using namespace outrider;
using namespace outrider::cli;

namespace {

// Multiply-adds of one row through the layers, and through the head, from the shapes alone.
double layer_products(const model::Architecture& a) {
  const double hidden = a.hidden_size, q = a.q_size(), kv = a.kv_size(), ffn = a.ffn_size;
  return a.layers * hidden * (2 * q + 2 * kv + 3 * ffn);
}
double head_products(const model::Architecture& a) { return static_cast<double>(a.hidden_size) * a.vocab_size; }

}  // namespace

TEST_CASE("a pass reads each weight once whatever its rows, and multiplies once a row") {
  kernels::ThreadPool pool(1);
  const auto target = tests::tiny_model(pool, kernels::Isa::scalar);
  const model::Architecture& a = target->architecture();
  const double position = 2.0 * 2 * a.layers * a.kv_size();  // a key and a value of two bytes a feature
  for (const int rows : {1, 7}) {
    const PassWork work = PassWork::of(*target, kernels::KvType::f16, rows, 100, rows);
    CHECK(work.bytes == Approx(static_cast<double>(target->weights().bytes_per_step()) + position * (100 + rows)));
    CHECK(work.int8_multiply_adds == Approx(rows * (layer_products(a) + head_products(a))));
    const double seen = rows == 1 ? 101 : 101 + 102 + 103 + 104 + 105 + 106 + 107;
    CHECK(work.f32_multiply_adds == Approx(2.0 * a.layers * a.q_size() * seen));
  }
}

TEST_CASE("a pass without logits neither reads the head nor multiplies with it") {
  kernels::ThreadPool pool(1);
  const auto target = tests::tiny_model(pool, kernels::Isa::scalar);
  const PassWork with = PassWork::of(*target, kernels::KvType::f32, 8, 0, 1),
                 without = PassWork::of(*target, kernels::KvType::f32, 8, 0, 0);
  CHECK(with.bytes - without.bytes == Approx(static_cast<double>(target->weights().head().bytes())));
  CHECK(with.int8_multiply_adds - without.int8_multiply_adds == Approx(head_products(target->architecture())));
}

TEST_CASE("products with float weights count as f32") {
  kernels::ThreadPool pool(1);
  const auto target = tests::tiny_model(pool, kernels::Isa::scalar, {.type = kernels::TensorType::f32});
  const PassWork work = PassWork::of(*target, kernels::KvType::f16, 1, 0, 1);
  CHECK(work.int8_multiply_adds + work.f32_multiply_adds >= layer_products(target->architecture()) + head_products(target->architecture()));
  CHECK(work.f32_multiply_adds >= layer_products(target->architecture()));
}

TEST_CASE("the limit of a pass is its memory or its arithmetic, whichever takes longer") {
  const Peaks peaks{.read_bytes = 10, .int8_multiply_adds = 100, .f32_multiply_adds = 20};
  CHECK(least_seconds({.bytes = 50, .int8_multiply_adds = 100, .f32_multiply_adds = 20}, peaks) == Approx(5));
  CHECK(least_seconds({.bytes = 50, .int8_multiply_adds = 400, .f32_multiply_adds = 60}, peaks) == Approx(7));
}
