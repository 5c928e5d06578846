// math.hpp's operations, written once over sixteen virtual lanes; included by math_scalar.cpp, math_avx2.cpp and math_avx512.cpp,
// which have included their lanes_*.hpp, exp_body.inl and math_ops.hpp before. Uses nothing that the linker could share.
namespace outrider::kernels {
namespace {

// whole(i) for each sixteen elements from i on, then rest(i, count) for the fewer than sixteen that remain.
template <class Whole, class Rest>
inline void each_sixteen(int64_t n, Whole whole, Rest rest) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) whole(i);
  if (i < n) rest(i, static_cast<int>(n - i));
}

void rms_norm(const float* x, const float* weight, int64_t n, float epsilon, float* out) {
  Lanes squares = splat(0.0f);
  each_sixteen(
      n, [&](int64_t i) { const Lanes v = load(x + i); squares = fused(v, v, squares); },
      [&](int64_t i, int count) { const Lanes v = load_first(x + i, count, 0.0f); squares = fused(v, v, squares); });
  const float mean = tree_sum(squares) / static_cast<float>(n);
  const Lanes scale = splat(1.0f / __builtin_sqrtf(mean + epsilon));
  each_sixteen(
      n, [&](int64_t i) { store(out + i, multiply(multiply(load(x + i), scale), load(weight + i))); },
      [&](int64_t i, int count) {
        store_first(out + i, multiply(multiply(load_first(x + i, count, 0.0f), scale), load_first(weight + i, count, 0.0f)), count);
      });
}

void add(float* x, const float* y, int64_t n) {
  each_sixteen(
      n, [&](int64_t i) { store(x + i, add(load(x + i), load(y + i))); },
      [&](int64_t i, int count) { store_first(x + i, add(load_first(x + i, count, 0.0f), load_first(y + i, count, 0.0f)), count); });
}

inline Lanes silu(Lanes z) { return divide(z, add(splat(1.0f), exp(negate(z)))); }

inline Lanes gelu(Lanes z) {
  const Lanes slope = fused(multiply(z, z), splat(exp_constants::kGeluB), splat(exp_constants::kGeluA));
  return divide(z, add(splat(1.0f), exp(negate(multiply(z, slope)))));
}

void silu_multiply(const float* gate, const float* up, int64_t n, float* out) {
  each_sixteen(
      n, [&](int64_t i) { store(out + i, multiply(silu(load(gate + i)), load(up + i))); },
      [&](int64_t i, int count) {
        store_first(out + i, multiply(silu(load_first(gate + i, count, 0.0f)), load_first(up + i, count, 0.0f)), count);
      });
}

void gelu_multiply(const float* gate, const float* up, int64_t n, float* out) {
  each_sixteen(
      n, [&](int64_t i) { store(out + i, multiply(gelu(load(gate + i)), load(up + i))); },
      [&](int64_t i, int count) {
        store_first(out + i, multiply(gelu(load_first(gate + i, count, 0.0f)), load_first(up + i, count, 0.0f)), count);
      });
}

void soft_cap(float* x, float cap, int64_t n) {
  each_sixteen(
      n, [&](int64_t i) { store(x + i, soft_cap(load(x + i), cap)); },
      [&](int64_t i, int count) { store_first(x + i, soft_cap(load_first(x + i, count, 0.0f), cap), count); });
}

inline void rotate(Lanes& a, Lanes& b, Lanes cosine, Lanes sine) {
  const Lanes turned = fused(a, cosine, negate(multiply(b, sine)));
  b = fused(a, sine, multiply(b, cosine));
  a = turned;
}

inline void rotate_one(float& a, float& b, float cosine, float sine) {
  const float turned = __builtin_fmaf(a, cosine, -(b * sine));
  b = __builtin_fmaf(a, sine, b * cosine);
  a = turned;
}

void rope_interleaved(float* x, int heads, int head_dim, int rotary, const float* table_row) {
  const int half = rotary / 2;
  for (int h = 0; h < heads; ++h, x += head_dim) {
    int i = 0;
    for (; i + 16 <= half; i += 16) {
      Lanes a, b;
      load_pairs(x + 2 * i, a, b);
      rotate(a, b, load(table_row + i), load(table_row + half + i));
      store_pairs(x + 2 * i, a, b);
    }
    for (; i < half; ++i) rotate_one(x[2 * i], x[2 * i + 1], table_row[i], table_row[half + i]);
  }
}

void rope_halves(float* x, int heads, int head_dim, int rotary, const float* table_row) {
  const int half = rotary / 2;
  for (int h = 0; h < heads; ++h, x += head_dim) {
    int i = 0;
    for (; i + 16 <= half; i += 16) {
      Lanes a = load(x + i), b = load(x + half + i);
      rotate(a, b, load(table_row + i), load(table_row + half + i));
      store(x + i, a);
      store(x + half + i, b);
    }
    for (; i < half; ++i) rotate_one(x[i], x[half + i], table_row[i], table_row[half + i]);
  }
}

// The greatest of n elements, in four independent chains (the order is free: where it shows, in the sign of a zero, callers do not
// look). `bad` gets a bit for each lane in which an element was not below `limit`.
inline float greatest(const float* x, int64_t n, float limit, uint32_t& bad) {
  const Lanes limits = splat(limit), lowest = splat(-__builtin_inff());
  Lanes top[4] = {lowest, lowest, lowest, lowest};
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const Lanes v = load(x + i + 16 * j);
      bad |= bits_not_below(v, limits);
      top[j] = greater(top[j], v);
    }
  }
  each_sixteen(
      n - i, [&](int64_t k) { const Lanes v = load(x + i + k); bad |= bits_not_below(v, limits); top[0] = greater(top[0], v); },
      [&](int64_t k, int count) {
        const Lanes v = load_first(x + i + k, count, -__builtin_inff());
        bad |= bits_not_below(v, limits);
        top[1] = greater(top[1], v);
      });
  return tree_greater(greater(greater(top[0], top[1]), greater(top[2], top[3])));
}

// One pass remembers which block first held the greatest element; only that block is searched.
int64_t arg_max(const float* x, int64_t n) {
  constexpr int64_t kBlock = 1024;
  float best = 0.0f;
  int64_t best_begin = -1;
  uint32_t bad = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const float top = greatest(x + begin, n - begin < kBlock ? n - begin : kBlock, __builtin_inff(), bad);
    if (bad != 0) return -1;
    if (best_begin < 0 || top > best) best = top, best_begin = begin;
  }
  if (best_begin < 0) return -1;
  int64_t i = best_begin;
  for (; i + 16 <= n; i += 16) {
    const uint32_t bits = bits_equal(load(x + i), splat(best));
    if (bits != 0) return i + __builtin_ctz(bits);
  }
  while (x[i] != best) ++i;
  return i;
}

// A zero comes out as +0, whichever zeros there are.
float max_value(const float* x, int64_t n) {
  uint32_t not_finite = 0;
  const Lanes limits = splat(__builtin_inff());
  const float top = greatest(x, n, __builtin_inff(), not_finite);
  if (not_finite == 0) return top + 0.0f;
  // Some element is +inf or NaN; the rare case pays for a second pass that tells them apart.
  uint32_t not_a_number = 0;
  each_sixteen(
      n, [&](int64_t i) { not_a_number |= bits_not_below(load(x + i), limits) & ~bits_at_least(load(x + i), limits); },
      [&](int64_t i, int count) {
        const Lanes v = load_first(x + i, count, 0.0f);
        not_a_number |= bits_not_below(v, limits) & ~bits_at_least(v, limits);
      });
  return not_a_number != 0 ? __builtin_nanf("") : __builtin_inff();
}

float sum_exp(const float* x, int64_t n, float max, float inverse_temperature) {
  const Lanes maxima = splat(max), inverse = splat(inverse_temperature);
  Lanes sum = splat(0.0f);
  each_sixteen(
      n, [&](int64_t i) { sum = add(sum, exp(multiply(subtract(load(x + i), maxima), inverse))); },
      [&](int64_t i, int count) {
        sum = add(sum, keep_first(exp(multiply(subtract(load_first(x + i, count, 0.0f), maxima), inverse)), count));
      });
  return tree_sum(sum);
}

int64_t collect_at_least(const float* x, int64_t n, float threshold, int32_t* out) {
  const Lanes thresholds = splat(threshold);
  int64_t found = 0, i = 0;
  for (; i + 16 <= n; i += 16) {
    const uint32_t bits = bits_at_least(load(x + i), thresholds);
    if (bits != 0) found += store_set_bits(out + found, bits, static_cast<int32_t>(i));
  }
  for (; i < n; ++i)
    if (x[i] >= threshold) out[found++] = static_cast<int32_t>(i);
  return found;
}

constexpr MathOps kOps = {rms_norm,    add,     silu_multiply, gelu_multiply, soft_cap,        rope_interleaved,
                          rope_halves, arg_max, max_value,     sum_exp,       collect_at_least};

}  // namespace
}  // namespace outrider::kernels
