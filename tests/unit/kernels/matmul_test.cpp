// The promise of kernels/cpu: every instruction set, any number of rows and threads, gives the bits of reference_matmul.
#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/cpu/dequantize.hpp"
#include "kernels/cpu/matmul.hpp"
#include "kernels/cpu/reference.hpp"
#include "kernels/half.hpp"

namespace {

using namespace outrider::kernels;

constexpr TensorType kTypes[] = {TensorType::f32,  TensorType::f16,  TensorType::bf16, TensorType::q4_0, TensorType::q4_1, TensorType::q5_0,
                                 TensorType::q5_1, TensorType::q8_0, TensorType::q4_k, TensorType::q5_k, TensorType::q6_k};

struct Weight {
  TensorType type;
  int64_t rows, cols;
  std::vector<std::byte> bytes;
};

void put_half(std::vector<std::byte>& bytes, size_t at, float value) {
  const uint16_t bits = f32_to_f16(value);
  std::memcpy(bytes.data() + at, &bits, 2);
}

// Random bytes, with f16 scales and minima of a plausible size (either sign).
Weight random_weight(TensorType type, int64_t rows, int64_t cols, uint32_t seed) {
  const TypeTraits& traits = type_traits(type);
  Weight weight{type, rows, cols, std::vector<std::byte>(static_cast<size_t>(rows * cols) / traits.block_elements * traits.block_bytes)};
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, 0.02f);
  if (traits.block_elements == 1) {
    for (size_t i = 0; i < static_cast<size_t>(rows * cols); ++i) {
      const float value = normal(random);
      const uint16_t half = type == TensorType::f16 ? f32_to_f16(value) : f32_to_bf16(value);
      if (type == TensorType::f32) std::memcpy(weight.bytes.data() + 4 * i, &value, 4);
      else std::memcpy(weight.bytes.data() + 2 * i, &half, 2);
    }
    return weight;
  }
  for (std::byte& byte : weight.bytes) byte = static_cast<std::byte>(random());
  for (size_t at = 0; at < weight.bytes.size(); at += traits.block_bytes) {
    put_half(weight.bytes, at + (type == TensorType::q6_k ? 208 : 0), normal(random));
    const bool two = type == TensorType::q4_1 || type == TensorType::q5_1 || type == TensorType::q4_k || type == TensorType::q5_k;
    if (two) put_half(weight.bytes, at + 2, normal(random));
  }
  return weight;
}

std::vector<float> random_input(int64_t rows, int64_t cols, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<size_t>(rows * cols));
  for (float& value : x) value = normal(random);
  return x;
}

// Equal bits, or both NaN (which NaN is not specified).
bool same(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b)); }

void require_same(const std::vector<float>& got, const std::vector<float>& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (same(got[i], expected[i])) continue;
    CAPTURE(i, got[i], expected[i]);
    REQUIRE(same(got[i], expected[i]));
  }
}

std::vector<float> reference(const Weight& w, const std::vector<float>& x, int64_t m) {
  std::vector<float> out(static_cast<size_t>(m * w.rows));
  reference_matmul(w.type, w.rows, w.cols, w.bytes.data(), x.data(), m, w.cols, out.data(), w.rows);
  return out;
}

std::vector<float> product(Isa isa, ThreadPool& pool, const PackedMatrix& weight, const float* x, int64_t m) {
  std::vector<float> out(static_cast<size_t>(m * weight.rows()), -1.0f);
  Activations activations;
  activations.assign(x, m, weight.cols(), weight.cols());
  pool.run([&](const Worker& worker) {
    const auto [row_begin, row_end] = worker.share(m);
    activations.quantize(isa, row_begin, row_end);
    worker.barrier();
    const auto [begin, end] = worker.share(weight.groups());
    matmul(isa, weight, activations, out.data(), weight.rows(), begin, end);
  });
  return out;
}

}  // namespace

TEST_CASE("every type on every instruction set equals the reference to the bit for M = 1..64 and 1 to 4 threads") {
  const TensorType type = GENERATE(from_range(std::begin(kTypes), std::end(kTypes)));
  const bool k_type = type_traits(type).block_elements == 256;
  CAPTURE(type_traits(type).name);
  const int64_t cols = k_type ? 512 : 96;
  const Weight source = random_weight(type, 37, cols, 7);
  const std::vector<float> x = random_input(64, cols, 8);
  const std::vector<float> expected = reference(source, x, 64);
  ThreadPool pool_one(1), pool_two(2), pool_three(3), pool_four(4);
  ThreadPool* const pools[] = {&pool_one, &pool_two, &pool_three, &pool_four};
  const PackedMatrix weight = PackedMatrix::pack(type, source.rows, cols, source.bytes, &pool_two);
  for (const Isa isa : available_isas()) {
    CAPTURE(isa_name(isa));
    for (int64_t m = 1; m <= 64; ++m) {
      if (isa == Isa::scalar && m > 20 && m < 64) continue;  // slow, and rows are handled alike
      CAPTURE(m);
      const std::vector<float> got = product(isa, *pools[m % 4], weight, x.data(), m);
      require_same(got, {expected.begin(), expected.begin() + m * source.rows});
    }
  }
}

TEST_CASE("shapes with few, many or no spare lanes and every legal short K equal the reference") {
  const TensorType type = GENERATE(from_range(std::begin(kTypes), std::end(kTypes)));
  CAPTURE(type_traits(type).name);
  ThreadPool pool(2);
  for (const int64_t cols : {32, 64, 256, 576, 768}) {
    if (cols % type_traits(type).block_elements != 0) continue;
    for (const int64_t rows : {1, 15, 16, 17, 80, 81}) {
      CAPTURE(cols, rows);
      const Weight source = random_weight(type, rows, cols, static_cast<uint32_t>(rows + cols));
      const PackedMatrix weight = PackedMatrix::pack(type, rows, cols, source.bytes);
      const std::vector<float> x = random_input(3, cols, 3);
      const std::vector<float> expected = reference(source, x, 3);
      for (const Isa isa : available_isas()) {
        CAPTURE(isa_name(isa));
        for (const int64_t m : {1, 2, 3})
          require_same(product(isa, pool, weight, x.data(), m), {expected.begin(), expected.begin() + m * rows});
      }
    }
  }
}

TEST_CASE("random shapes, row counts and thread counts equal the reference, no rows included") {
  const bool everything = std::getenv("OUTRIDER_LONG") != nullptr;
  const uint32_t first_seed = everything ? std::random_device()() : 1;  // a failure prints the seed
  ThreadPool pools[] = {ThreadPool(1), ThreadPool(2), ThreadPool(3), ThreadPool(4)};
  for (uint32_t round = 0; round < (everything ? 4000U : 40U); ++round) {
    const uint32_t seed = first_seed + round;
    std::mt19937 random(seed);
    const auto up_to = [&random](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1)); };
    const TensorType type = kTypes[random() % std::size(kTypes)];
    const int64_t unit = type_traits(type).block_elements;
    const int64_t cols = unit == 1 ? 1 + up_to(700) : unit * (1 + up_to(unit == 32 ? 30 : 5)), rows = 1 + up_to(90), m = up_to(70);
    CAPTURE(seed, type_traits(type).name, rows, cols, m);
    const Weight source = random_weight(type, rows, cols, seed);
    const PackedMatrix weight = PackedMatrix::pack(type, rows, cols, source.bytes, &pools[random() % 4]);
    const std::vector<float> x = random_input(m, cols, seed + 1), expected = reference(source, x, m);
    for (const Isa isa : available_isas()) {
      CAPTURE(isa_name(isa));
      require_same(product(isa, pools[random() % 4], weight, x.data(), m), expected);
    }
  }
}

TEST_CASE("halves convert exactly and round to nearest even") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = f16_to_f32(half);
    if (std::isnan(value)) REQUIRE(std::isnan(f16_to_f32(f32_to_f16(value))));
    else REQUIRE(f32_to_f16(value) == half);
  }
  REQUIRE(f16_to_f32(0x3c01) == 1.0009765625f);
  REQUIRE(f16_to_f32(0x0001) == 0x1p-24f);
  REQUIRE(f32_to_f16(1.00048828125f) == 0x3c00);   // half way: to even
  REQUIRE(f32_to_f16(1.00146484375f) == 0x3c02);
  REQUIRE(f32_to_f16(0x1p-25f) == 0);              // half of the smallest: to even
  REQUIRE(f32_to_f16(0x1.8p-25f) == 1);
  REQUIRE(f32_to_f16(65519.0f) == 0x7bff);
  REQUIRE(f32_to_f16(65520.0f) == 0x7c00);
  REQUIRE(f32_to_bf16(1.00390625f) == 0x3f80);     // half way: to even
  REQUIRE(f32_to_bf16(1.01171875f) == 0x3f82);
  REQUIRE(bf16_to_f32(0xbf80) == -1.0f);
}

TEST_CASE("float types take any K, also one that is no multiple of a block") {
  const TensorType type = GENERATE(TensorType::f32, TensorType::f16, TensorType::bf16);
  ThreadPool pool(1);
  for (const int64_t cols : {1, 7, 33}) {
    const Weight source = random_weight(type, 100, cols, 5);
    const PackedMatrix weight = PackedMatrix::pack(type, 100, cols, source.bytes);
    const std::vector<float> x = random_input(5, cols, 6);
    for (const Isa isa : available_isas()) require_same(product(isa, pool, weight, x.data(), 5), reference(source, x, 5));
  }
}

TEST_CASE("a row of a batch equals the same row alone") {
  const TensorType type = GENERATE(from_range(std::begin(kTypes), std::end(kTypes)));
  const Weight source = random_weight(type, 33, 256, 11);
  const PackedMatrix weight = PackedMatrix::pack(type, 33, 256, source.bytes);
  const std::vector<float> x = random_input(19, 256, 12);
  ThreadPool pool(1);
  for (const Isa isa : available_isas()) {
    const std::vector<float> batch = product(isa, pool, weight, x.data(), 19);
    for (int64_t m = 0; m < 19; ++m)
      require_same(product(isa, pool, weight, x.data() + m * 256, 1), {batch.begin() + m * 33, batch.begin() + (m + 1) * 33});
  }
}

TEST_CASE("extreme activations and weights agree with the reference and never hide a NaN") {
  const TensorType type = GENERATE(from_range(std::begin(kTypes), std::end(kTypes)));
  CAPTURE(type_traits(type).name);
  Weight source = random_weight(type, 18, 256, 21);
  if (type_traits(type).block_elements != 1) {
    const size_t row = source.bytes.size() / 18, at = type == TensorType::q6_k ? 208 : 0;
    put_half(source.bytes, at, 0.0f);
    put_half(source.bytes, row + at, std::numeric_limits<float>::infinity());
    put_half(source.bytes, 2 * row + at, 6e-8f);  // subnormal
    put_half(source.bytes, 3 * row + at, -65504.0f);
    put_half(source.bytes, 4 * row + at, std::numeric_limits<float>::quiet_NaN());
    put_half(source.bytes, 5 * row + at, -0.0f);
  }
  const PackedMatrix weight = PackedMatrix::pack(type, 18, 256, source.bytes);
  constexpr int64_t kCases = 9;
  std::vector<float> x = random_input(kCases, 256, 22);
  const auto fill = [&](int64_t row, float value) { std::fill_n(x.begin() + row * 256, 256, value); };
  fill(0, 0.0f);
  fill(1, -0.0f);
  fill(2, std::numeric_limits<float>::max());
  fill(3, std::numeric_limits<float>::denorm_min());
  fill(4, -1e-30f);
  x[5 * 256 + 100] = std::numeric_limits<float>::quiet_NaN();
  x[6 * 256 + 200] = -std::numeric_limits<float>::infinity();
  for (int i = 0; i < 256; ++i) x[static_cast<size_t>(7 * 256 + i)] = i % 2 ? 1.0f : -1.0f;  // every q is +-127
  fill(8, 3e38f);
  ThreadPool pool(1);
  const std::vector<float> expected = reference(source, x, kCases);
  for (int64_t lane = 6; lane < 18; ++lane) REQUIRE(std::isnan(expected[static_cast<size_t>(5 * 18 + lane)]));
  for (const Isa isa : available_isas()) {
    CAPTURE(isa_name(isa));
    require_same(product(isa, pool, weight, x.data(), kCases), expected);
  }
}

TEST_CASE("the greatest quants against the greatest activations do not overflow") {
  const TensorType type = GENERATE(TensorType::q4_0, TensorType::q4_1, TensorType::q5_0, TensorType::q5_1, TensorType::q8_0,
                                   TensorType::q4_k, TensorType::q5_k, TensorType::q6_k);
  const std::byte fill = GENERATE(std::byte{0xff}, std::byte{0x00}, std::byte{0x80}, std::byte{0x7f});
  Weight source = random_weight(type, 16, 256, 1);
  const TypeTraits& traits = type_traits(type);
  for (std::byte& byte : source.bytes) byte = fill;
  for (size_t at = 0; at < source.bytes.size(); at += traits.block_bytes) {
    put_half(source.bytes, at + (type == TensorType::q6_k ? 208 : 0), 1.0f);
    const bool one = type == TensorType::q4_0 || type == TensorType::q5_0 || type == TensorType::q8_0 || type == TensorType::q6_k;
    if (!one) put_half(source.bytes, at + 2, 1.0f);
  }
  const PackedMatrix weight = PackedMatrix::pack(type, 16, 256, source.bytes);
  std::vector<float> x(2 * 256, 1.0f);
  std::fill(x.begin() + 256, x.end(), -1.0f);
  ThreadPool pool(1);
  const std::vector<float> expected = reference(source, x, 2);
  for (const Isa isa : available_isas()) require_same(product(isa, pool, weight, x.data(), 2), expected);
}

TEST_CASE("a product is near the product of the dequantised weight") {
  const TensorType type = GENERATE(from_range(std::begin(kTypes), std::end(kTypes)));
  CAPTURE(type_traits(type).name);
  const Weight source = random_weight(type, 16, 512, 31);
  const std::vector<float> x = random_input(1, 512, 32), got = reference(source, x, 1);
  std::vector<float> w(512);
  for (size_t r = 0; r < 16; ++r) {
    dequantize_row(type, source.bytes.data() + r * source.bytes.size() / 16, 512, w.data());
    double exact = 0, norm = 0;
    for (size_t k = 0; k < 512; ++k) {
      exact += static_cast<double>(w[k]) * x[k];
      norm += std::pow(static_cast<double>(w[k]) * x[k], 2);
    }
    REQUIRE(std::abs(exact - got[r]) < 0.03 * std::sqrt(norm) + 1e-6);
  }
}

TEST_CASE("a packed row dequantises to the bits of its GGUF row") {
  const TensorType type = GENERATE(from_range(std::begin(kTypes), std::end(kTypes)));
  CAPTURE(type_traits(type).name);
  const Weight source = random_weight(type, 35, 512, 41);
  const PackedMatrix weight = PackedMatrix::pack(type, 35, 512, source.bytes);
  std::vector<float> from_gguf(512), from_packed(512);
  for (int64_t r = 0; r < 35; ++r) {
    dequantize_row(type, source.bytes.data() + static_cast<size_t>(r) * source.bytes.size() / 35, 512, from_gguf.data());
    weight.dequantize_row(r, from_packed.data());
    require_same(from_packed, from_gguf);
  }
}

// Other numbers mean another layout: raise kPackedLayout with them.
TEST_CASE("packed bytes are the layout's, to the byte, the padding of rows and groups included") {
  const auto [type, expected] = GENERATE(table<TensorType, uint64_t>({
      {TensorType::f32, 0xe896ed841a1720bau},
      {TensorType::f16, 0xcfa66f9242c9c868u},
      {TensorType::bf16, 0xcfa66f9242c9c868u},
      {TensorType::q4_0, 0x08fb1092df4992e5u},
      {TensorType::q4_1, 0xb39f374a3e9aa3a8u},
      {TensorType::q5_0, 0xd6509dafa8dbb262u},
      {TensorType::q5_1, 0xe3c3ca5be9623e88u},
      {TensorType::q8_0, 0xdd8a568a66152d6du},
      {TensorType::q4_k, 0x0029a484ad75477du},
      {TensorType::q5_k, 0x9f2bb71b39263d98u},
      {TensorType::q6_k, 0x25eebdf8c3c755b6u},
  }));
  CAPTURE(type_traits(type).name);
  const TypeTraits& traits = type_traits(type);
  std::vector<std::byte> source(37 * 768 / traits.block_elements * traits.block_bytes);
  std::mt19937 random(61);
  for (std::byte& byte : source) byte = static_cast<std::byte>(random());
  const PackedMatrix weight = PackedMatrix::pack(type, 37, 768, source);
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (size_t i = 0; i < weight.bytes(); ++i) hash = (hash ^ static_cast<uint64_t>(weight.group(0)[i])) * 0x100000001b3u;
  REQUIRE(hash == expected);
}

TEST_CASE("rows quantise to the same bits on every instruction set, at every position of a batch") {
  const std::vector<float> x = random_input(40, 96, 51);
  Activations scalar;
  scalar.assign(x.data(), 40, 96, 96);
  scalar.quantize(Isa::scalar, 0, 40);
  for (const Isa isa : available_isas()) {
    for (const int64_t m : {1, 16, 17, 40}) {
      Activations activations;
      activations.assign(x.data(), m, 96, 96);
      activations.quantize(isa, 0, m);
      for (int64_t row = 0; row < m; ++row)
        for (int64_t b = 0; b < 3; ++b)
          REQUIRE(std::memcmp(&activations.block(row, b), &scalar.block(row, b), sizeof(ActivationBlock)) == 0);
    }
  }
}

TEST_CASE("an activation block follows its law") {
  std::vector<float> x(32, 0.0f);
  x[0] = -2.0f;
  x[1] = 1.0f;           // 63.5 rounds to even: 64
  x[20] = 2.0f / 127;
  for (const Isa isa : available_isas()) {
    Activations activations;
    activations.assign(x.data(), 1, 32, 32);
    activations.quantize(isa, 0, 1);
    const ActivationBlock& block = activations.block(0, 0);
    REQUIRE(block.q[0] == -127);
    REQUIRE(block.q[1] == 64);
    REQUIRE(block.q[20] == 1);
    REQUIRE(block.scale == 2.0f / 127);
    REQUIRE(block.sum == -62);
    REQUIRE(block.scaled_sum == block.scale * -62.0f);
    REQUIRE(block.bias8 == 496);
    REQUIRE(block.bias32[0] == 63 * 32);
    REQUIRE(block.bias32[1] == -32);
  }
}

TEST_CASE("nothing is written outside the groups asked for") {
  const Weight source = random_weight(TensorType::q4_1, 40, 64, 61);
  const PackedMatrix weight = PackedMatrix::pack(TensorType::q4_1, 40, 64, source.bytes);
  const std::vector<float> x = random_input(2, 64, 62), expected = reference(source, x, 2);
  for (const Isa isa : available_isas()) {
    Activations activations;
    activations.assign(x.data(), 2, 64, 64);
    activations.quantize(isa, 0, 2);
    std::vector<float> out(2 * 50, 123.0f);
    matmul(isa, weight, activations, out.data(), 50, 1, 3);
    for (size_t m = 0; m < 2; ++m)
      for (size_t r = 0; r < 50; ++r) REQUIRE(out[m * 50 + r] == (r >= 16 && r < 40 ? expected[m * 40 + r] : 123.0f));
  }
}

TEST_CASE("what quantisation left of a row is its law to the bit, at every position of a batch, and a fault stays one") {
  for (const int64_t m : {1, 2, 17, 40}) {
    const int64_t cols = 96;
    std::vector<float> x = random_input(m, cols, 5);
    x[3] = 1e-31f;  // a block that quantises to zeros
    std::fill_n(x.data() + 4, 28, 0.0f), std::fill_n(x.data(), 3, 0.0f);
    x[static_cast<size_t>(m * cols - 1)] = std::numeric_limits<float>::infinity();
    for (const Isa isa : available_isas()) {
      Activations activations;
      activations.assign(x.data(), m, cols, cols);
      activations.quantize(isa, 0, m);
      std::vector<float> left(static_cast<size_t>(cols));
      for (int64_t row = 0; row < m; ++row) {
        activations.residual(isa, row, left.data());
        std::vector<float> expected;
        for (int64_t k = 0; k < cols; ++k) {
          const ActivationBlock& block = activations.block(row, k / 32);
          expected.push_back(std::fma(-static_cast<float>(block.q[k % 32]), block.scale, x[static_cast<size_t>(row * cols + k)]));
        }
        require_same(left, expected);
      }
      CHECK(std::isnan(left.back()));  // of the infinity
    }
  }
}

TEST_CASE("a product in two terms is a hundred times nearer the product of the floats") {
  ThreadPool pool(1);
  for (const TensorType type : kTypes) {
    if (is_float_type(type)) continue;
    const Weight w = random_weight(type, 48, 512, 9);
    const PackedMatrix weight = PackedMatrix::pack(w.type, w.rows, w.cols, w.bytes);
    std::vector<float> x = random_input(2, w.cols, 11);  // the second row becomes the second term
    Activations activations;
    activations.assign(x.data(), 1, w.cols, w.cols);
    activations.quantize(best_isa(), 0, 1);
    activations.residual(best_isa(), 0, x.data() + w.cols);
    const std::vector<float> y = product(best_isa(), pool, weight, x.data(), 2);
    std::vector<float> row(static_cast<size_t>(w.cols));
    double one_term = 0, two_terms = 0;
    for (int64_t r = 0; r < w.rows; ++r) {
      weight.dequantize_row(r, row.data());
      double exact = 0;
      for (int64_t k = 0; k < w.cols; ++k) exact += static_cast<double>(row[static_cast<size_t>(k)]) * static_cast<double>(x[static_cast<size_t>(k)]);
      one_term += std::abs(static_cast<double>(y[static_cast<size_t>(r)]) - exact);
      two_terms += std::abs(static_cast<double>(y[static_cast<size_t>(r)]) + static_cast<double>(y[static_cast<size_t>(w.rows + r)]) - exact);
    }
    CAPTURE(type_traits(type).name, one_term, two_terms);
    CHECK(two_terms * 100 < one_term);
  }
}

TEST_CASE("blocks that threads quantise apart are the blocks of whole rows") {
  const int64_t m = 19, cols = 160;
  const std::vector<float> x = random_input(m, cols, 3);
  for (const Isa isa : available_isas()) {
    Activations whole, parts;
    whole.assign(x.data(), m, cols, cols), parts.assign(x.data(), m, cols, cols);
    whole.quantize(isa, 0, m);
    parts.quantize_blocks(isa, 0, m, 3, 5);
    parts.quantize_blocks(isa, 0, m, 0, 1);
    parts.quantize_blocks(isa, 0, m, 1, 3);
    parts.quantize_blocks(isa, 0, m, 5, 5);
    for (int64_t row = 0; row < m; ++row)
      for (int64_t b = 0; b < cols / 32; ++b) CHECK(std::memcmp(&whole.block(row, b), &parts.block(row, b), sizeof(ActivationBlock)) == 0);
  }
}
