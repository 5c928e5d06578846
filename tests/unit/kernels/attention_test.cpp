#include "kernels/cpu/attention.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/cpu/reference_attention.hpp"
#include "kernels/half.hpp"

using namespace outrider::kernels;

namespace {

std::vector<float> random_floats(size_t n, uint32_t seed, float spread = 1.0f) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  std::vector<float> out(n);
  for (float& x : out) x = normal(engine);
  return out;
}

struct Form {
  int heads, kv_heads, head_dim;
  KvType type;
};

std::string text(const Form& form) {
  return std::to_string(form.heads) + "/" + std::to_string(form.kv_heads) + " heads of " + std::to_string(form.head_dim) + " " +
         std::string(kv_type_name(form.type));
}

// A cache for one layer whose pages a sequence owns in scattered order. Slots that nothing was stored in hold NaN, so that a kernel
// which lets them touch a result is found out.
struct Cache {
  Cache(const Form& form, int32_t positions, uint32_t seed = 1) {
    layer = {nullptr, form.type, form.kv_heads, form.head_dim};
    pages.resize(static_cast<size_t>((positions + kPagePositions - 1) / kPagePositions));
    std::iota(pages.begin(), pages.end(), 0);
    std::shuffle(pages.begin(), pages.end(), std::mt19937(seed));
    data.ensure(pages.size() * layer.page_bytes());
    std::memset(data.data(), 0xff, data.size());
    layer.data = data.data();
  }
  AlignedBuffer<std::byte> data;
  KvLayer layer{};
  std::vector<int32_t> pages;
};

// Keys, values and queries by position: what a row computes depends on its position alone, however it is batched.
struct Sequence {
  Sequence(const Form& form_, int32_t positions_, uint32_t seed) : form(form_), positions(positions_) {
    const size_t features = static_cast<size_t>(form.kv_heads) * static_cast<size_t>(form.head_dim), n = static_cast<size_t>(positions);
    k = random_floats(n * features, seed);
    v = random_floats(n * features, seed + 1);
    q = random_floats(n * static_cast<size_t>(form.heads) * static_cast<size_t>(form.head_dim), seed + 2, 2.0f);
    rounded_k = k;
    rounded_v = v;
    if (form.type == KvType::f16)
      for (auto* values : {&rounded_k, &rounded_v})
        for (float& x : *values) x = f16_to_f32(f32_to_f16(x));
    if (form.type == KvType::q8_0)
      for (auto [values, scales] : {std::pair{&rounded_k, &k_scales}, {&rounded_v, &v_scales}})
        for (size_t head = 0; head < values->size(); head += static_cast<size_t>(form.head_dim))
          for (int d = 0; d < form.head_dim; d += 32)
            scales->push_back(reference::quantize(values->data() + head + d, std::min(32, form.head_dim - d)));
  }
  [[nodiscard]] reference::KvView view(const std::vector<float>& values, const std::vector<float>& scales) const {
    return {values.data(), form.kv_heads, form.head_dim, scales.empty() ? nullptr : scales.data()};
  }
  [[nodiscard]] size_t query_size() const { return static_cast<size_t>(form.heads) * static_cast<size_t>(form.head_dim); }
  [[nodiscard]] const float* query(int32_t position) const { return q.data() + static_cast<size_t>(position) * query_size(); }
  [[nodiscard]] float scale() const { return 1.0f / std::sqrt(static_cast<float>(form.head_dim)); }

  void store(Isa isa, Cache& cache, int32_t position, int32_t slot) const {
    const int64_t at = static_cast<int64_t>(position) * form.kv_heads * form.head_dim;
    kv_store(isa, cache.layer, cache.pages.data(), slot, k.data() + at, v.data() + at);
  }

  // What the specification says of the query at `position`, which sees itself and all before it from `first` on. Kept, as tests ask again.
  const std::vector<float>& expected(int32_t position, int32_t first = 0, float soft_cap = 0.0f) {
    auto& out = expected_[{position, first, soft_cap}];
    if (out.empty()) {
      out.resize(query_size());
      const reference::KvView keys = view(rounded_k, k_scales), values = view(rounded_v, v_scales);
      for (int h = 0; h < form.heads; ++h)
        reference::attention(query(position) + h * form.head_dim, keys, values, h / (form.heads / form.kv_heads), first, position + 1,
                             scale(), soft_cap, out.data() + h * form.head_dim);
    }
    return out;
  }

  Form form;
  int32_t positions;
  std::vector<float> k, v, q, rounded_k, rounded_v, k_scales, v_scales;  // rounded_*: Q8_0's quants; scales: Q8_0 alone

 private:
  std::map<std::tuple<int32_t, int32_t, float>, std::vector<float>> expected_;
};

// Runs both phases as `threads` threads would, one after another, and returns the rows' outputs.
std::vector<std::vector<float>> run(Isa isa, const Cache& cache, const Sequence& of, const std::vector<AttentionRow>& rows, int threads = 1,
                                    float soft_cap = 0.0f) {
  const size_t stride = of.query_size() + 5;  // rows need not lie close together
  std::vector<float> outputs(rows.size() * stride);
  const AttentionShape shape{of.form.heads, of.scale(), soft_cap};
  AttentionScratch scratch;
  attention_prepare(scratch, cache.layer, shape, rows, threads);
  const int64_t items = attention_items(cache.layer, rows), count = static_cast<int64_t>(rows.size());
  for (int t = 0; t < threads; ++t)
    attention_partial(isa, cache.layer, shape, rows, scratch, t, items * t / threads, items * (t + 1) / threads);
  for (int t = 0; t < threads; ++t)
    attention_combine(isa, cache.layer, shape, rows, scratch, count * t / threads, count * (t + 1) / threads, outputs.data(),
                      static_cast<int64_t>(stride));
  std::vector<std::vector<float>> out;
  for (size_t r = 0; r < rows.size(); ++r) out.emplace_back(outputs.begin() + r * stride, outputs.begin() + r * stride + of.query_size());
  return out;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

AttentionRow row_at(const Sequence& sequence, const Cache& cache, int32_t position) {
  return {sequence.query(position), cache.pages.data(), position + 1, nullptr, 0};
}

// The same, seeing `window` positions, itself the last.
AttentionRow windowed(const Sequence& sequence, const Cache& cache, int32_t position, int32_t window) {
  AttentionRow row = row_at(sequence, cache, position);
  row.first = std::max(position - window + 1, 0);
  return row;
}

}  // namespace

TEST_CASE("attention equals its specification to the bit for every instruction set, shape, type and context length") {
  std::vector<int32_t> positions;
  for (int32_t length = 1; length <= 40; ++length) positions.push_back(length - 1);
  for (int32_t length = 500; length <= 530; ++length) positions.push_back(length - 1);
  positions.push_back(1029);
  for (Form form : {Form{9, 3, 64, KvType::f16}, Form{9, 3, 64, KvType::f32}, Form{14, 2, 128, KvType::f16}, Form{1, 1, 256, KvType::f16},
                    Form{1, 1, 256, KvType::f32}, Form{4, 2, 112, KvType::f16}, Form{12, 1, 16, KvType::f32}, Form{9, 3, 64, KvType::q8_0},
                    Form{14, 2, 128, KvType::q8_0}, Form{1, 1, 256, KvType::q8_0}, Form{4, 2, 112, KvType::q8_0},
                    Form{3, 3, 80, KvType::q8_0}, Form{12, 1, 16, KvType::q8_0}}) {
    Sequence sequence(form, 1030, 5);
    for (Isa isa : available_isas()) {
      INFO(isa_name(isa) << ", " << text(form));
      Cache cache(form, 1030);
      for (int32_t p = 0; p < 1030; ++p) sequence.store(isa, cache, p, p);
      // In one batch, so blocks hold rows of very different lengths, and one by one.
      std::vector<AttentionRow> rows;
      for (int32_t p : positions) rows.push_back(row_at(sequence, cache, p));
      const auto together = run(isa, cache, sequence, rows);
      for (size_t r = 0; r < rows.size(); ++r) {
        INFO("length " << positions[r] + 1);
        REQUIRE(same(together[r], sequence.expected(positions[r])));
        if (r % 9 == 0) REQUIRE(same(run(isa, cache, sequence, {rows[r]})[0], sequence.expected(positions[r])));
      }
    }
  }
}

TEST_CASE("a row in a batch of 1 to 64 equals the row alone, across the border of two chunks") {
  const Form form{3, 1, 64, GENERATE(KvType::f16, KvType::q8_0)};
  Sequence sequence(form, 560, 6);
  for (Isa isa : available_isas()) {
    Cache cache(form, 560);
    for (int32_t p = 0; p < 560; ++p) sequence.store(isa, cache, p, p);
    for (int32_t m = 1; m <= 64; ++m) {
      std::vector<AttentionRow> rows;
      for (int32_t r = 0; r < m; ++r) rows.push_back(row_at(sequence, cache, 485 + r));
      const auto out = run(isa, cache, sequence, rows, m % 3 + 1);
      for (int32_t r = 0; r < m; ++r) {
        INFO(isa_name(isa) << ", row " << r << " of " << m);
        REQUIRE(same(out[static_cast<size_t>(r)], sequence.expected(485 + r)));
      }
    }
  }
}

TEST_CASE("any split of the items over threads gives the same bits, for a batch of several sequences") {
  const Form form{9, 3, 64, GENERATE(KvType::f16, KvType::q8_0)};
  Sequence one(form, 1100, 7);
  for (Isa isa : available_isas()) {
    Cache cache(form, 2200);
    // Two sequences share the layer; the second's page table is the back half of the pages.
    const std::vector<int32_t> second(cache.pages.begin() + 69, cache.pages.end());
    for (int32_t p = 0; p < 1100; ++p) one.store(isa, cache, p, p);
    for (int32_t p = 0; p < 600; ++p) {
      const int64_t at = static_cast<int64_t>(p) * form.kv_heads * form.head_dim;
      kv_store(isa, cache.layer, second.data(), p, one.k.data() + at, one.v.data() + at);
    }
    std::vector<AttentionRow> rows;
    for (int32_t p = 1080; p < 1093; ++p) rows.push_back(row_at(one, cache, p));
    for (int32_t p : {3, 599, 511, 512}) {
      rows.push_back(row_at(one, cache, p));
      rows.back().pages = second.data();
    }
    rows.push_back(row_at(one, cache, 40));
    const auto alone = run(isa, cache, one, rows, 1);
    for (int threads : {2, 3, 5, 16, 1000}) {
      INFO(isa_name(isa) << ", " << threads << " threads");
      CHECK(run(isa, cache, one, rows, threads) == alone);
    }
    CHECK(same(alone[13], one.expected(3)));
    CHECK(same(alone[14], one.expected(599)));
    CHECK(same(alone[17], one.expected(40)));
  }
}

TEST_CASE("a tree node's row equals the same positions stored contiguously") {
  // Each node's path is 0..depth of its own slots; a sibling's slots in between must not be seen.
  for (Form form : {Form{9, 3, 64, KvType::f16}, Form{2, 1, 32, KvType::f32}, Form{9, 3, 64, KvType::q8_0}, Form{2, 1, 48, KvType::q8_0}})
    for (int32_t committed : {0, 1, 5, 16, 249, 255, 256, 505, 511, 512, 700}) {
      const int32_t depth = 10, slots_between = 7;
      Sequence sequence(form, committed + depth, 8);
      for (Isa isa : available_isas()) {
        INFO(isa_name(isa) << ", " << text(form) << ", committed " << committed);
        Cache cache(form, committed + depth * slots_between + 1);
        for (int32_t p = 0; p < committed; ++p) sequence.store(isa, cache, p, p);
        std::vector<int32_t> path;
        for (int32_t d = 0; d < depth; ++d) {
          path.push_back(committed + (d * 29 + 3) % (depth * slots_between));  // not in ascending order
          sequence.store(isa, cache, committed + d, path.back());
        }
        std::vector<AttentionRow> rows;
        for (int32_t d = 0; d < depth; ++d)
          rows.push_back({sequence.query(committed + d), cache.pages.data(), committed, path.data(), d + 1});
        const auto out = run(isa, cache, sequence, rows, 2);
        for (int32_t d = 0; d < depth; ++d) {
          INFO("depth " << d);
          REQUIRE(same(out[static_cast<size_t>(d)], sequence.expected(committed + d)));
          REQUIRE(same(run(isa, cache, sequence, {rows[static_cast<size_t>(d)]})[0], sequence.expected(committed + d)));
        }
        // After acceptance the path's positions move to [committed, committed + depth). A path slot may itself be a destination, so
        // they go through a second cache here; the rows then need no path.
        Cache moved(form, committed + 2 * depth * slots_between);
        for (int32_t p = 0; p < committed; ++p) sequence.store(isa, moved, p, p);
        const int32_t beyond = committed + depth;
        for (int32_t d = 0; d < depth; ++d) sequence.store(isa, moved, committed + d, beyond + d * 3);
        for (int32_t d = 0; d < depth; ++d) kv_move(moved.layer, moved.pages.data(), beyond + d * 3, committed + d);
        const int32_t last = committed + depth - 1;
        REQUIRE(same(run(isa, moved, sequence, {row_at(sequence, moved, last)})[0], sequence.expected(last)));
      }
    }
}

TEST_CASE("a path may be longer than a chunk") {
  const Form form{2, 2, 32, GENERATE(KvType::f16, KvType::q8_0)};
  Sequence sequence(form, 600, 9);
  std::vector<int32_t> slots(600);
  std::iota(slots.begin(), slots.end(), 0);
  std::shuffle(slots.begin() + 20, slots.end(), std::mt19937(3));
  for (Isa isa : available_isas()) {
    Cache cache(form, 600);
    for (int32_t p = 0; p < 600; ++p) sequence.store(isa, cache, p, slots[static_cast<size_t>(p)]);
    const AttentionRow row{sequence.query(599), cache.pages.data(), 20, slots.data() + 20, 580};
    CHECK(same(run(isa, cache, sequence, {row})[0], sequence.expected(599)));
  }
}

TEST_CASE("a window equals its specification to the bit: within a page, across pages and chunks, before and after it is full") {
  for (Form form : {Form{4, 1, 256, KvType::f16}, Form{9, 3, 64, KvType::f32}, Form{2, 2, 16, KvType::f16}, Form{9, 3, 64, KvType::q8_0},
                    Form{2, 2, 112, KvType::q8_0}})
    for (int32_t window : {1, 5, 16, 23, 32, 250, 256, 257, 512}) {
      Sequence sequence(form, 560, 14);
      // Contexts one short of the window, of its length, one past it; then around chunk borders, with rows next to each other.
      std::vector<int32_t> positions = {0, window - 1, window, window + 1, window + 15, window + 16};
      if (window > 1) positions.push_back(window - 2);
      for (int32_t p = 250; p < 266; ++p) positions.push_back(p);
      for (int32_t p = 508; p < 516; ++p) positions.push_back(p);
      for (Isa isa : available_isas()) {
        Cache cache(form, 560);
        for (int32_t p = 0; p < 560; ++p) sequence.store(isa, cache, p, p);
        std::vector<AttentionRow> rows;
        for (int32_t p : positions) rows.push_back(windowed(sequence, cache, p, window));
        const auto together = run(isa, cache, sequence, rows, 3);
        for (size_t r = 0; r < rows.size(); ++r) {
          INFO(isa_name(isa) << ", " << text(form) << ", window " << window << ", position " << positions[r]);
          REQUIRE(same(together[r], sequence.expected(positions[r], rows[r].first)));
          if (r % 5 == 0) REQUIRE(same(run(isa, cache, sequence, {rows[r]})[0], sequence.expected(positions[r], rows[r].first)));
        }
      }
    }
}

TEST_CASE("rows of one block may see windows that begin and end anywhere, also with nothing in common") {
  const Form form{3, 1, 32, GENERATE(KvType::f16, KvType::q8_0)};
  Sequence sequence(form, 300, 15);
  std::mt19937 random(4);
  for (Isa isa : available_isas()) {
    Cache cache(form, 300);
    for (int32_t p = 0; p < 300; ++p) sequence.store(isa, cache, p, p);
    for (int trial = 0; trial < 200; ++trial) {
      std::vector<AttentionRow> rows;
      for (size_t r = 0; r < 1 + random() % 9; ++r) {
        const auto position = static_cast<int32_t>(trial % 2 == 0 ? 40 + random() % 12 : random() % 300);
        rows.push_back(windowed(sequence, cache, position, 1 + static_cast<int32_t>(random() % (trial % 3 == 0 ? 300 : 20))));
      }
      const auto out = run(isa, cache, sequence, rows);
      for (size_t r = 0; r < rows.size(); ++r) {
        INFO(isa_name(isa) << ", trial " << trial << ", row " << r << " sees [" << rows[r].first << ", " << rows[r].prefix << ")");
        REQUIRE(same(out[r], sequence.expected(rows[r].prefix - 1, rows[r].first)));
      }
    }
  }
}

TEST_CASE("keys before a window may be anything and their pages need not exist") {
  const Form form{3, 1, 64, GENERATE(KvType::f16, KvType::q8_0)};
  Sequence sequence(form, 600, 16);
  for (Isa isa : available_isas())
    for (int32_t window : {3, 16, 40, 300}) {
      Cache cache(form, 600);  // what is not stored is NaN
      const int32_t position = 590, first = position - window + 1;
      for (int32_t p = first; p <= position; ++p) sequence.store(isa, cache, p, p);
      for (int32_t page = 0; page < first / kPagePositions; ++page) cache.pages[static_cast<size_t>(page)] = INT32_MAX;  // far outside
      INFO(isa_name(isa) << ", window " << window);
      REQUIRE(same(run(isa, cache, sequence, {windowed(sequence, cache, position, window)})[0], sequence.expected(position, first)));
    }
}

TEST_CASE("a tree node's window counts positions by depth, and may begin on its path") {
  const Form form{4, 2, 32, GENERATE(KvType::f16, KvType::q8_0)};
  const int32_t depth = 12;
  for (int32_t committed : {0, 3, 17, 250, 256, 509})
    for (int32_t window : {1, 2, 5, 12, 13, 16, 30, 257}) {
      Sequence sequence(form, committed + depth, 17);
      for (Isa isa : available_isas()) {
        INFO(isa_name(isa) << ", committed " << committed << ", window " << window);
        Cache cache(form, committed + depth * 7 + 1);
        for (int32_t p = 0; p < committed; ++p) sequence.store(isa, cache, p, p);
        std::vector<int32_t> path;
        std::vector<AttentionRow> rows;
        for (int32_t d = 0; d < depth; ++d) {
          path.push_back(committed + (d * 29 + 3) % (depth * 7));  // not in ascending order, far from the depth
          sequence.store(isa, cache, committed + d, path.back());
        }
        for (int32_t d = 0; d < depth; ++d) {
          rows.push_back(windowed(sequence, cache, committed + d, window));
          rows.back().prefix = committed, rows.back().path = path.data(), rows.back().path_length = d + 1;
        }
        const auto out = run(isa, cache, sequence, rows, 2);
        for (int32_t d = 0; d < depth; ++d) {
          INFO("depth " << d);
          const AttentionRow& row = rows[static_cast<size_t>(d)];
          REQUIRE(same(out[static_cast<size_t>(d)], sequence.expected(committed + d, row.first)));
          REQUIRE(same(run(isa, cache, sequence, {row})[0], sequence.expected(committed + d, row.first)));
        }
      }
    }
}

TEST_CASE("soft-capped scores equal their specification to the bit, with and without a window") {
  const Form form{6, 2, 64, GENERATE(KvType::f16, KvType::q8_0)};
  Sequence sequence(form, 530, 18);
  for (Isa isa : available_isas()) {
    Cache cache(form, 530);
    for (int32_t p = 0; p < 530; ++p) sequence.store(isa, cache, p, p);
    for (float cap : {0.5f, 50.0f})
      for (int32_t window : {7, 261, 1000})
        for (int32_t position : {0, 6, 7, 30, 255, 256, 529}) {
          INFO(isa_name(isa) << ", cap " << cap << ", window " << window << ", position " << position);
          const AttentionRow row = windowed(sequence, cache, position, window);
          REQUIRE(same(run(isa, cache, sequence, {row}, 1, cap)[0], sequence.expected(position, row.first, cap)));
        }
  }
  CHECK_FALSE(same(sequence.expected(529, 0, 0.5f), sequence.expected(529)));
}

TEST_CASE("attention over one position is that position's value, and over none is zero") {
  const Form form{2, 1, 64, KvType::f32};
  Sequence sequence(form, 1, 10);
  for (Isa isa : available_isas()) {
    Cache cache(form, 1);
    sequence.store(isa, cache, 0, 0);
    const auto out = run(isa, cache, sequence, {row_at(sequence, cache, 0)})[0];
    for (size_t d = 0; d < 64; ++d) {
      CHECK(out[d] == sequence.v[d]);
      CHECK(out[64 + d] == sequence.v[d]);
    }
    AttentionRow empty = row_at(sequence, cache, 0);
    empty.prefix = 0;
    CHECK(run(isa, cache, sequence, {empty})[0] == std::vector<float>(128, 0.0f));
    AttentionRow past = row_at(sequence, cache, 0);
    past.first = 1;
    CHECK(run(isa, cache, sequence, {past})[0] == std::vector<float>(128, 0.0f));
  }
}

TEST_CASE("attention is the softmax average of the values") {
  const Form form{1, 1, 16, GENERATE(KvType::f32, KvType::q8_0)};
  const auto [relative, absolute] = form.type == KvType::f32 ? std::pair(1e-4, 1e-6) : std::pair(0.0, 0.02);
  Sequence sequence(form, 700, 11);
  Cache cache(form, 700);
  for (int32_t p = 0; p < 700; ++p) sequence.store(best_isa(), cache, p, p);
  const auto out = run(best_isa(), cache, sequence, {row_at(sequence, cache, 699)})[0];
  std::vector<double> average(16, 0.0);
  double total = 0.0;
  for (size_t p = 0; p < 700; ++p) {
    double score = 0.0;
    for (size_t d = 0; d < 16; ++d) score += static_cast<double>(sequence.query(699)[d]) * static_cast<double>(sequence.k[p * 16 + d]);
    const double weight = std::exp(score / 4.0);
    total += weight;
    for (size_t d = 0; d < 16; ++d) average[d] += weight * static_cast<double>(sequence.v[p * 16 + d]);
  }
  for (size_t d = 0; d < 16; ++d) CHECK(static_cast<double>(out[d]) == Approx(average[d] / total).epsilon(relative).margin(absolute));
}

TEST_CASE("a NaN in a row's query or in what it sees reaches its output, and no other row's") {
  const Form form{3, 1, 64, GENERATE(KvType::f16, KvType::f32, KvType::q8_0)};
  for (Isa isa : available_isas()) {
    Sequence sequence(form, 40, 12);
    Cache cache(form, 40);
    for (int32_t p = 0; p < 40; ++p) sequence.store(isa, cache, p, p);
    auto spoiled = std::vector<float>(sequence.query(30), sequence.query(30) + sequence.query_size());
    spoiled[5] = std::nanf("");
    std::vector<AttentionRow> rows = {row_at(sequence, cache, 29), row_at(sequence, cache, 30), row_at(sequence, cache, 31)};
    rows[1].q = spoiled.data();
    const auto out = run(isa, cache, sequence, rows);
    CHECK(same(out[0], sequence.expected(29)));
    CHECK(std::isnan(out[1][0]));
    CHECK(same(out[2], sequence.expected(31)));
    CHECK(std::isnan(run(isa, cache, sequence, {[&] { auto row = row_at(sequence, cache, 39); row.prefix = 41; return row; }()})[0][0]));

    for (auto* stored : {&sequence.k, &sequence.v}) {
      Sequence faulty = sequence;
      (stored == &sequence.k ? faulty.k : faulty.v)[30 * 64 + 41] = std::nanf("");
      Cache spoiled_cache(form, 40);
      for (int32_t p = 0; p < 40; ++p) faulty.store(isa, spoiled_cache, p, p);
      const auto rows_of = [&](int32_t p) { return run(isa, spoiled_cache, faulty, {row_at(faulty, spoiled_cache, p)})[0]; };
      CHECK(same(rows_of(29), sequence.expected(29)));
      for (int32_t p : {30, 31, 39}) CHECK(std::isnan(rows_of(p)[41]));
    }
  }
}

TEST_CASE("stored keys and values are the same bytes for every instruction set, rounded to nearest even") {
  for (Form form : {Form{3, 3, 64, KvType::f16}, Form{3, 3, 64, KvType::f32}, Form{3, 3, 48, KvType::q8_0}}) {
    Sequence sequence(form, 33, 13);
    for (float special : {65519.0f, 65520.0f, -1e30f, 5.9604645e-8f, 2.9802322e-8f, 1e-30f, 2049.0f, 2051.0f, INFINITY, -INFINITY}) {
      sequence.k[7] = special;
      sequence.v[11] = special;
      Cache first(form, 33);
      for (int32_t p = 0; p < 33; ++p) sequence.store(Isa::scalar, first, p, p);
      for (Isa isa : available_isas()) {
        Cache cache(form, 33);
        for (int32_t p = 0; p < 33; ++p) sequence.store(isa, cache, p, p);
        INFO(isa_name(isa) << ", " << text(form) << ", " << special);
        CHECK(std::memcmp(first.data.data(), cache.data.data(), cache.data.size()) == 0);
      }
      if (form.type == KvType::f16) {
        uint16_t key;
        const std::byte* page = first.data.data() + static_cast<size_t>(first.pages[0]) * first.layer.page_bytes();
        std::memcpy(&key, page + 7 * 16 * sizeof key, sizeof key);
        CHECK(key == f32_to_f16(special));
      }
    }
  }
}

namespace {

// A one-head cache's position 0 as Q8_0 keeps it: quants and scales of the key (by feature, by block) and of the value.
struct Kept {
  Kept(Isa isa, const std::vector<float>& k, const std::vector<float>& v) {
    const auto head_dim = static_cast<int>(k.size());
    Cache cache({1, 1, head_dim, KvType::q8_0}, 1);
    kv_store(isa, cache.layer, cache.pages.data(), 0, k.data(), v.data());
    const auto* bytes = reinterpret_cast<const int8_t*>(cache.data.data());
    const auto half_at = [&](size_t offset) {
      uint16_t half;
      std::memcpy(&half, bytes + offset, sizeof half);
      return half;
    };
    const size_t keys = k.size() * 16, blocks = (k.size() + 31) / 32, head = keys + blocks * 32;
    for (size_t d = 0; d < k.size(); ++d) key.push_back(bytes[d * 16]);
    for (size_t d = 0; d < k.size(); ++d) value.push_back(bytes[head + blocks * 32 + d]);
    for (size_t b = 0; b < blocks; ++b) key_scale.push_back(half_at(keys + b * 32)), value_scale.push_back(half_at(head + b * 32));
  }
  std::vector<int> key, value;
  std::vector<uint16_t> key_scale, value_scale;
};

}  // namespace

TEST_CASE("Q8_0 keeps each block of 32 features as rounded 127ths of its greatest, the last block of 16 by itself") {
  std::vector<float> x(48, 0.0f);
  x[0] = 127.0f, x[1] = 0.5f, x[2] = 1.5f, x[3] = -2.5f, x[31] = -126.6f;
  x[32] = -254.0f, x[33] = 3.0f, x[47] = 100.0f;
  std::vector<int> quants(48, 0);
  quants[0] = 127, quants[2] = 2, quants[3] = -2, quants[31] = -127;
  quants[32] = -127, quants[33] = 2, quants[47] = 50;
  const std::vector<uint16_t> scales = {f32_to_f16(1.0f), f32_to_f16(2.0f)};
  for (Isa isa : available_isas()) {
    INFO(isa_name(isa));
    const Kept kept(isa, x, x);
    CHECK(kept.key == quants);
    CHECK(kept.value == quants);
    CHECK(kept.key_scale == scales);
    CHECK(kept.value_scale == scales);
  }
}

TEST_CASE("a Q8_0 block that cannot be told in 127ths is a NaN, and one too small for its scale is zero") {
  const std::vector<int> zeros(32, 0);
  for (Isa isa : available_isas()) {
    for (const float bad : {std::nanf(""), -std::nanf(""), INFINITY, -INFINITY, 127.0f * 65520.0f, -3e38f})
      for (const size_t where : {0UL, 15UL, 16UL, 31UL}) {
        std::vector<float> x(64, 1.0f);
        x[where] = bad;
        INFO(isa_name(isa) << ", " << bad << " at " << where);
        const Kept kept(isa, x, x);
        for (const auto* kind : {&kept.key, &kept.value}) {
          CHECK(std::vector<int>(kind->begin(), kind->begin() + 32) == zeros);
          CHECK(kind->at(32) == 127);  // the next block is not touched
        }
        for (const auto* scale : {&kept.key_scale, &kept.value_scale}) {
          CHECK(std::isnan(f16_to_f32(scale->at(0))));
          CHECK(scale->at(1) == f32_to_f16(1.0f / 127.0f));
        }
      }
    for (const float tiny : {0.0f, -0.0f, 1e-45f, -1e-38f, 127.0f * 0x1p-25f}) {
      INFO(isa_name(isa) << ", " << tiny);
      const Kept kept(isa, std::vector<float>(32, tiny), std::vector<float>(32, -tiny));
      CHECK(kept.key == zeros);
      CHECK(kept.value == zeros);
      CHECK(kept.key_scale[0] == 0);
      CHECK(kept.value_scale[0] == 0);
    }
    CHECK(Kept(isa, std::vector<float>(32, 127.0f * 65500.0f), std::vector<float>(32, 127.0f * 0x1p-24f)).key == std::vector<int>(32, 127));
    CHECK(Kept(isa, std::vector<float>(32, 1.0f), std::vector<float>(32, -127.0f * 0x1p-24f)).value == std::vector<int>(32, -127));
  }
}

TEST_CASE("a moved position is the same bits as one stored there, and no other position changes") {
  for (Form form : {Form{3, 3, 64, KvType::f16}, Form{2, 2, 32, KvType::f32}, Form{3, 3, 64, KvType::q8_0}, Form{2, 2, 112, KvType::q8_0}})
    for (const auto& [from, to] : {std::pair{5, 20}, {40, 39}, {47, 0}, {3, 3}, {33, 16}}) {
      INFO(text(form) << ", " << from << " to " << to);
      const Sequence sequence(form, 1, 19);
      Cache moved(form, 48), stored(form, 48);
      sequence.store(best_isa(), moved, 0, from);
      kv_move(moved.layer, moved.pages.data(), from, to);
      for (int32_t slot : {from, to}) sequence.store(best_isa(), stored, 0, slot);
      CHECK(std::memcmp(moved.data.data(), stored.data.data(), stored.data.size()) == 0);
    }
}

TEST_CASE("Q8_0 takes 8.5 bits a feature where blocks are whole, and 9 where heads have 16 features") {
  const auto bits = [](int head_dim, KvType type) {
    const KvLayer layer{nullptr, type, 3, head_dim};
    return static_cast<double>(layer.page_bytes()) * 8 / (2.0 * 3 * head_dim * kPagePositions);
  };
  CHECK(bits(64, KvType::f32) == 32.0);
  CHECK(bits(64, KvType::f16) == 16.0);
  CHECK(bits(64, KvType::q8_0) == 8.5);
  CHECK(bits(128, KvType::q8_0) == 8.5);
  CHECK(bits(80, KvType::q8_0) == Approx(8.6));
  CHECK(bits(16, KvType::q8_0) == 9.0);
}

TEST_CASE("a cache's type is found by its name alone") {
  for (KvType type : {KvType::f16, KvType::f32, KvType::q8_0}) CHECK(kv_type_from_name(kv_type_name(type)) == type);
  for (const char* name : {"", "auto", "F16", "q8_1", "q8_0 "}) CHECK_FALSE(kv_type_from_name(name));
}
