// The multiply-add loops without VNNI. Included inside an anonymous namespace after `Vec`, which names the vectors, their width in floats,
// the independent sums that fill the units (latency times two a cycle, and some) and fit the registers, and the operations.
//
// The int8 step is what a 4-bit block costs a row, less loading, unpacking and scaling: eight vpmaddubsw, seven vpaddw that collect their
// pairs, one vpmaddwd that widens them and one vpaddd, for eight vectors of products. The f32 step is one fused multiply-add a sum.

// The compiler must take `v` for changed here: else it would compute all sums once, since they are alike.
template <class V>
inline __attribute__((always_inline)) void touch(V& v) {
  asm volatile("" : "+v"(v));
}

void int8_dot(int64_t steps) {
  Vec::I w[8], sums[Vec::kRows], q = Vec::bytes(3);
  for (auto& weight : w) weight = Vec::bytes(2), touch(weight);
  for (auto& sum : sums) sum = Vec::bytes(0);
  for (int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 8
    for (auto& sum : sums) {
      touch(q);  // as if it were another row's
      Vec::I pairs = Vec::multiply_pairs(w[0], q);
#pragma GCC unroll 7
      for (int g = 1; g < 8; ++g) pairs = Vec::add_pairs(pairs, Vec::multiply_pairs(w[g], q));
      sum = Vec::add(sum, Vec::widen(pairs));
    }
  }
  for (auto& sum : sums) touch(sum);
}

void f32_fma(int64_t steps) {
  Vec::F sums[Vec::kSums], w = Vec::floats(1.0F), x = Vec::floats(0.5F);
  for (auto& sum : sums) sum = Vec::floats(0.0F), touch(sum);
  for (int64_t step = 0; step < steps; ++step) {
    touch(w);
#pragma GCC unroll 24
    for (auto& sum : sums) sum = Vec::fma(w, x, sum);
  }
  for (auto& sum : sums) touch(sum);
}

constexpr PeakLoops kLoops = {{int8_dot, Vec::kRows * 8 * 4 * Vec::kWidth}, {f32_fma, Vec::kSums * Vec::kWidth}};
