// The body of every SIMD matmul. An instruction set's .cpp opens an anonymous namespace, defines `Vec` (below), includes this file and
// calls matmul_tile(). All of it has internal linkage, so no AVX-512 code can stand in for another file's.
//
// Vec provides, for kWidth lanes (16, or 8 = half a group at a time):
//   I, F                       vectors of bytes/int32 and of floats
//   kMaxFloatRows              rows whose accumulators fit the registers in a float kernel (a quantised one takes kTileRows everywhere:
//                              with 16 registers they spill, which costs less than unpacking the weights twice)
//   load, low_nibbles, high_nibbles, merge_bits, as_signed, dot, dot_signed, half_floats, byte_floats, signed_bytes, …
//
// Where the time goes: a Q4_1 block (16 features x 32 k, 320 bytes) costs 4 loads, 12 operations to unpack and, a row, 8 dot steps, one
// conversion, one multiply and two fused multiply-adds. At 10 GB/s a core those bytes take about 32 ns, some 80-100 cycles. With VNNI a
// row takes some 8 of them, so memory hides the arithmetic up to about 12 rows; beyond that the dot steps are the limit.

// Software prefetch runs this far ahead: latency x bandwidth of a core (100 ns x 10 GB/s = 1,000 bytes), doubled for jitter.
constexpr int kPrefetchBytes = 2048;

inline void prefetch(const std::byte* p, int bytes) {
  for (int at = 0; at < bytes; at += 64) _mm_prefetch(reinterpret_cast<const char*>(p + kPrefetchBytes + at), _MM_HINT_T0);
}

// The eight k-groups of a block as vectors of unsigned quants (Q8_0: what Vec::as_signed makes of signed ones).
template <TensorType kType>
inline __attribute__((always_inline)) void unpack(const std::byte* block, int half, Vec::I (&w)[8]) {
  constexpr BlockLayout layout = kLayout<kType>;
  const std::byte* planes = block + layout.scale_bytes + half * 32;
  const std::byte* quants = planes + layout.plane_bytes;
  if constexpr (layout.bits == 8) {
    for (int g = 0; g < 8; ++g) w[g] = Vec::as_signed(Vec::load(quants + 64 * g));
  } else {
    for (int v = 0; v < 4; ++v) {
      const Vec::I pair = Vec::load(quants + 64 * v);
      w[2 * v] = Vec::low_nibbles(pair);
      w[2 * v + 1] = Vec::high_nibbles(pair);
    }
  }
  // merge_bits<mask, shift>(w, plane): w | ((plane << shift) & mask), byte by byte.
  if constexpr (layout.bits == 5) {
    const Vec::I plane = Vec::load(planes);
    w[0] = Vec::merge_bits<0x10, 4>(w[0], plane);
    w[1] = Vec::merge_bits<0x10, 3>(w[1], plane);
    w[2] = Vec::merge_bits<0x10, 2>(w[2], plane);
    w[3] = Vec::merge_bits<0x10, 1>(w[3], plane);
    w[4] = Vec::merge_bits<0x10, 0>(w[4], plane);
    w[5] = Vec::merge_bits<0x10, -1>(w[5], plane);
    w[6] = Vec::merge_bits<0x10, -2>(w[6], plane);
    w[7] = Vec::merge_bits<0x10, -3>(w[7], plane);
  } else if constexpr (layout.bits == 6) {
    for (int h = 0; h < 2; ++h) {
      const Vec::I plane = Vec::load(planes + 64 * h);
      w[4 * h] = Vec::merge_bits<0x30, 4>(w[4 * h], plane);
      w[4 * h + 1] = Vec::merge_bits<0x30, 2>(w[4 * h + 1], plane);
      w[4 * h + 2] = Vec::merge_bits<0x30, 0>(w[4 * h + 2], plane);
      w[4 * h + 3] = Vec::merge_bits<0x30, -2>(w[4 * h + 3], plane);
    }
  }
}

// A block's scales, once for all rows.
struct Scales {
  Vec::F d;         // the factor of the integer sum
  Vec::F m;         // the factor of scaled_sum, with its sign
  Vec::I sc0, sc1;  // Q6_K
};

template <TensorType kType>
inline __attribute__((always_inline)) Scales load_scales(const std::byte* header, const std::byte* block, int half) {
  Scales s{};
  if constexpr (kType == TensorType::q6_k) {
    s.d = Vec::half_floats(header + 16 * half);
    s.sc0 = Vec::signed_bytes(block + 8 * half);
    s.sc1 = Vec::signed_bytes(block + 16 + 8 * half);
  } else if constexpr (kLayout<kType>.subs > 1) {
    s.d = Vec::mul(Vec::half_floats(header + 16 * half), Vec::byte_floats(block + 8 * half));
    s.m = Vec::negate(Vec::mul(Vec::half_floats(header + 32 + 16 * half), Vec::byte_floats(block + 16 + 8 * half)));
  } else {
    s.d = Vec::half_floats(block + 16 * half);
    if constexpr (kLayout<kType>.minimum) s.m = Vec::half_floats(block + 32 + 16 * half);
  }
  return s;
}

// One block for one row: the law of the type (README.md).
template <TensorType kType>
inline __attribute__((always_inline)) Vec::F accumulate(const Vec::I (&w)[8], const Scales& s, const ActivationBlock& a, Vec::F acc) {
  Vec::I sum;
  if constexpr (kType == TensorType::q8_0) {
    sum = Vec::dot_signed(w, a);
  } else if constexpr (kType == TensorType::q6_k) {
    const Vec::I first = Vec::dot<6, 4>(w, a.q, Vec::broadcast(&a.bias32[0]));
    const Vec::I second = Vec::dot<6, 4>(w + 4, a.q + 16, Vec::broadcast(&a.bias32[1]));
    sum = Vec::add(Vec::multiply(first, s.sc0), Vec::multiply(second, s.sc1));
  } else if constexpr (kType == TensorType::q4_0) {
    sum = Vec::dot<4, 8>(w, a.q, Vec::broadcast(&a.bias8));
  } else if constexpr (kType == TensorType::q5_0) {
    sum = Vec::dot<5, 8>(w, a.q, Vec::broadcast(&a.bias16));
  } else {
    sum = Vec::dot<kLayout<kType>.bits, 8>(w, a.q, Vec::zero());
  }
  acc = Vec::fma(Vec::to_floats(sum), Vec::mul(s.d, Vec::broadcast(&a.scale)), acc);
  if constexpr (kLayout<kType>.minimum) acc = Vec::fma(s.m, Vec::broadcast(&a.scaled_sum), acc);
  return acc;
}

constexpr int kHalves = 16 / Vec::kWidth;

// One group for kRows rows.
template <TensorType kType, int kRows>
void quantised_kernel(const TileTask& task, const std::byte* group, int lanes, int first_row) {
  constexpr BlockLayout layout = kLayout<kType>;
  Vec::F acc[kHalves][kRows];
  for (int half = 0; half < kHalves; ++half)
    for (int r = 0; r < kRows; ++r) acc[half][r] = Vec::zero_floats();

  const ActivationBlock* a = task.blocks + first_row;
  const int64_t stride = task.block_stride;
  for (int64_t supers = task.cols / (32 * layout.subs); supers > 0; --supers) {
    const std::byte* header = group;
    group += layout.header_bytes;
    for (int sub = 0; sub < layout.subs; ++sub, group += layout.block_bytes, a += stride) {
      prefetch(group, layout.block_bytes);
#pragma GCC unroll 2
      for (int half = 0; half < kHalves; ++half) {
        Vec::I w[8];
        unpack<kType>(group, half, w);
        const Scales scales = load_scales<kType>(header, group, half);
        // Both halves broadcast the same activations. Left alone, g++ keeps them for the second half, in registers it hasn't got.
        if constexpr (kHalves > 1) asm volatile("" ::: "memory");
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) acc[half][r] = accumulate<kType>(w, scales, a[r], acc[half][r]);
      }
    }
  }
  for (int half = 0; half < kHalves; ++half)
    for (int r = 0; r < kRows; ++r)
      Vec::store(task.out + (first_row + r) * task.out_stride + half * Vec::kWidth, acc[half][r], lanes - half * Vec::kWidth);
}

template <TensorType kType>
inline __attribute__((always_inline)) Vec::F load_weights(const std::byte* p) {
  if constexpr (kType == TensorType::f32) return Vec::floats(p);
  else if constexpr (kType == TensorType::f16) return Vec::half_floats(p);
  else return Vec::brain_floats(p);
}

// kGroups groups at once for kRows rows of floats: a chain of fused multiply-adds takes a step in 4 cycles, so few rows need several
// groups to fill the units.
template <TensorType kType, int kRows, int kGroups>
void float_kernel(const TileTask& task, const std::byte* group, int lanes, int first_row) {
  constexpr int size = kType == TensorType::f32 ? 4 : 2;
  constexpr int vectors = kGroups * kHalves;
  Vec::F acc[vectors][kRows];
  for (int v = 0; v < vectors; ++v)
    for (int r = 0; r < kRows; ++r) acc[v][r] = Vec::zero_floats();
  const float* x[kRows];
  for (int r = 0; r < kRows; ++r) x[r] = task.x + (first_row + r) * task.x_stride;
  for (int64_t k = 0; k < task.cols; ++k, group += 16 * size) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      const std::byte* p = group + static_cast<size_t>(v / kHalves) * task.group_bytes + v % kHalves * Vec::kWidth * size;
      const Vec::F w = load_weights<kType>(p);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) acc[v][r] = Vec::fma(w, Vec::broadcast(x[r] + k), acc[v][r]);
    }
  }
  for (int v = 0; v < vectors; ++v) {
    const int valid = v / kHalves == kGroups - 1 ? lanes : 16;
    for (int r = 0; r < kRows; ++r)
      Vec::store(task.out + (first_row + r) * task.out_stride + v * Vec::kWidth, acc[v][r], valid - v % kHalves * Vec::kWidth);
  }
}

using Kernel = void (*)(const TileTask&, const std::byte* group, int lanes, int first_row);

// The kernel for each number of rows, 1..max_rows.
struct Kernels {
  int max_rows;
  Kernel by_rows[kTileRows + 1];
};

template <TensorType kType, int... kRows>
constexpr Kernels quantised_kernels(std::integer_sequence<int, kRows...>) {
  return {sizeof...(kRows), {nullptr, quantised_kernel<kType, kRows + 1>...}};
}
template <TensorType kType, int... kRows>
constexpr Kernels float_kernels(std::integer_sequence<int, kRows...>) {
  return {sizeof...(kRows), {nullptr, float_kernel<kType, kRows + 1, 1>...}};
}

// Rows are split evenly where they are too many for one kernel (9 is 5 + 4, not 8 + 1); a group's weights then come from the L1 cache.
void run_groups(const Kernels& kernels, const TileTask& task, int rows) {
  const int parts = (rows + kernels.max_rows - 1) / kernels.max_rows;
  TileTask at = task;
  for (int64_t g = 0; g < task.groups; ++g, at.out += 16) {
    const int lanes = g + 1 == task.groups ? task.last_lanes : 16;
    const std::byte* group = task.weights + static_cast<size_t>(g) * task.group_bytes;
    for (int part = 0; part < parts; ++part) {
      const int begin = rows * part / parts, end = rows * (part + 1) / parts;
      kernels.by_rows[end - begin](at, group, lanes, begin);
    }
  }
}

template <TensorType kType>
void run_float_groups(const TileTask& task, int rows) {
  constexpr int kTogether = 4;
  static constexpr Kernels kernels = float_kernels<kType>(std::make_integer_sequence<int, Vec::kMaxFloatRows>{});
  TileTask at = task;
  if (rows <= 2) {
    const Kernel together = rows == 1 ? float_kernel<kType, 1, kTogether> : float_kernel<kType, 2, kTogether>;
    while (at.groups >= kTogether) {
      together(at, at.weights, at.groups == kTogether ? task.last_lanes : 16, 0);
      at.groups -= kTogether;
      at.weights += kTogether * task.group_bytes;
      at.out += kTogether * 16;
    }
  }
  run_groups(kernels, at, rows);
}

template <TensorType kType>
void run_quantised_groups(const TileTask& task, int rows) {
  static constexpr Kernels kernels = quantised_kernels<kType>(std::make_integer_sequence<int, kTileRows>{});
  run_groups(kernels, task, rows);
}

void matmul_tile(TensorType type, int rows, const TileTask& task) {
  switch (type) {
    case TensorType::f32: return run_float_groups<TensorType::f32>(task, rows);
    case TensorType::f16: return run_float_groups<TensorType::f16>(task, rows);
    case TensorType::bf16: return run_float_groups<TensorType::bf16>(task, rows);
    case TensorType::q4_0: return run_quantised_groups<TensorType::q4_0>(task, rows);
    case TensorType::q4_1: return run_quantised_groups<TensorType::q4_1>(task, rows);
    case TensorType::q5_0: return run_quantised_groups<TensorType::q5_0>(task, rows);
    case TensorType::q5_1: return run_quantised_groups<TensorType::q5_1>(task, rows);
    case TensorType::q8_0: return run_quantised_groups<TensorType::q8_0>(task, rows);
    case TensorType::q4_k: return run_quantised_groups<TensorType::q4_k>(task, rows);
    case TensorType::q5_k: return run_quantised_groups<TensorType::q5_k>(task, rows);
    case TensorType::q6_k: return run_quantised_groups<TensorType::q6_k>(task, rows);
  }
}
