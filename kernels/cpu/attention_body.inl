// attention.hpp's two phases, written once over sixteen virtual lanes; included by attention_scalar.cpp, attention_avx2.cpp and
// attention_avx512.cpp after their lanes_*.hpp, exp_body.inl and attention_ops.hpp. Uses nothing that the linker could share.
//
// An item's time goes into two loops. `score_pages` multiplies Q query vectors with P pages of keys, one position a lane: a key
// vector is loaded (and widened) once for Q queries, and Q * P independent chains hide the latency of the fused multiply-add.
// `add_values` keeps D vectors of Q outputs in registers over all positions of a stretch, so a value is loaded once for Q queries.
namespace outrider::kernels {
namespace {

constexpr int kMaxScored = kAccumulators < 12 ? kAccumulators : 12;  // query vectors that one pass over the keys serves
constexpr int kGroupPages = 4;  // pages scored before the next queries' turn: 8 KiB of F16 keys at head_dim 64, so they stay in L1
constexpr int kMaxStretches = kAttentionChunk + kAttentionChunk / kPagePositions;

template <class T>
constexpr bool kScaled = sizeof(T) == 1;  // int8_t: Q8_0

constexpr int pages_at_once(int queries) {
  const int pages = kAccumulators / queries;
  return pages >= 4 ? 4 : pages >= 2 ? 2 : 1;
}

// ---- scores -------------------------------------------------------------------------------------------------------------------

inline const uint16_t* scales_behind(const int8_t* keys, int head_dim) {
  return reinterpret_cast<const uint16_t*>(keys + head_dim * kPagePositions);
}

template <class T, int Q, int P>
inline void score_pages(const float* q, const T* const* keys, const T* const* next, int head_dim, float scale, float* score,
                        int64_t stride) {
  constexpr int kStep = static_cast<int>(4 / sizeof(T));  // features in a cache line of keys
  const int width = kScaled<T> ? kKvBlock : head_dim;
  for (int begin = 0; begin < head_dim; begin += width) {
    const int end = begin + width < head_dim ? begin + width : head_dim;
    Lanes sum[Q][P];
#pragma GCC unroll 12
    for (int j = 0; j < Q; ++j)
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) sum[j][p] = splat(0.0f);
    for (int d = begin; d < end; d += kStep) {
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) prefetch(next[p] + d * kPagePositions);
#pragma GCC unroll 4
      for (int e = 0; e < kStep; ++e) {
        Lanes key[P];
#pragma GCC unroll 4
        for (int p = 0; p < P; ++p) key[p] = load(keys[p] + (d + e) * kPagePositions);
#pragma GCC unroll 12
        for (int j = 0; j < Q; ++j) {
          const Lanes feature = splat(q[j * kQueryStride + d + e]);
#pragma GCC unroll 4
          for (int p = 0; p < P; ++p) sum[j][p] = fused(feature, key[p], sum[j][p]);
        }
      }
    }
    if constexpr (kScaled<T>) {  // the blocks' sum stays in `score` meanwhile: the registers are the features'
      const int64_t row = begin / kKvBlock * kPagePositions;
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) {
        const Lanes block_scale = load(scales_behind(keys[p], head_dim) + row);
        prefetch(scales_behind(next[p], head_dim) + row);
#pragma GCC unroll 12
        for (int j = 0; j < Q; ++j) {
          float* to = score + j * stride + p * kPagePositions;
          const Lanes total = fused(sum[j][p], block_scale, begin == 0 ? splat(0.0f) : load(to));
          store(to, end == head_dim ? multiply(total, splat(scale)) : total);
        }
      }
    } else {
#pragma GCC unroll 12
      for (int j = 0; j < Q; ++j)
#pragma GCC unroll 4
        for (int p = 0; p < P; ++p) store(score + j * stride + p * kPagePositions, multiply(sum[j][p], splat(scale)));
    }
  }
}

// Scores of Q queries in `pages` <= kGroupPages pages.
template <class T, int Q>
void score_group(const float* q, const T* const* keys, const T* const* next, int pages, int head_dim, float scale, float* score,
                 int64_t stride) {
  constexpr int kPages = pages_at_once(Q);
  int p = 0;
  for (; p + kPages <= pages; p += kPages)
    score_pages<T, Q, kPages>(q, keys + p, next + p, head_dim, scale, score + p * kPagePositions, stride);
  if constexpr (kPages > 1)
    for (; p < pages; ++p) score_pages<T, Q, 1>(q, keys + p, next + p, head_dim, scale, score + p * kPagePositions, stride);
}

template <class T>
using ScoreGroup = void (*)(const float*, const T* const*, const T* const*, int, int, float, float*, int64_t);

template <class T>
inline ScoreGroup<T> score_group_of(int queries) {
  static_assert(kMaxScored == 12 || kMaxScored == 6);
  if constexpr (kMaxScored == 12) {
    constexpr ScoreGroup<T> kTable[] = {score_group<T, 1>, score_group<T, 2>, score_group<T, 3>, score_group<T, 4>,
                                        score_group<T, 5>, score_group<T, 6>, score_group<T, 7>, score_group<T, 8>,
                                        score_group<T, 9>, score_group<T, 10>, score_group<T, 11>, score_group<T, 12>};
    return kTable[queries - 1];
  } else {
    constexpr ScoreGroup<T> kTable[] = {score_group<T, 1>, score_group<T, 2>, score_group<T, 3>,
                                        score_group<T, 4>, score_group<T, 5>, score_group<T, 6>};
    return kTable[queries - 1];
  }
}

// Scores of all of an item's queries in some pages.
template <class T>
inline void score_all(const AttentionItem& item, int queries, const float* q, const T* const* keys, const T* const* next, int pages,
                      float* score, int64_t stride) {
  const int passes = (queries + kMaxScored - 1) / kMaxScored;
  for (int pass = 0, begin = 0; pass < passes; ++pass) {
    const int end = queries * (pass + 1) / passes;  // passes of nearly one width
    score_group_of<T>(end - begin)(q + begin * kQueryStride, keys, pass == 0 ? next : keys, pages, item.head_dim, item.scale,
                                   score + begin * stride, stride);
    begin = end;
  }
}

// ---- values -------------------------------------------------------------------------------------------------------------------

// `count` positions of one page whose values lie one after another; `offset` is the first one's position within the chunk.
template <class T>
struct Stretch {
  const T* values;
  const uint16_t* scales;  // of the first position, first block; Q8_0 alone
  int32_t offset;
  int32_t count;
};

template <class T, int Q, int D>
void add_values(const Stretch<T>* stretches, int stretch_count, int head_dim, const float* weight, float* out, int feature,
                bool resume) {
  Lanes sum[Q][D];
#pragma GCC unroll 6
  for (int j = 0; j < Q; ++j)
#pragma GCC unroll 4
    for (int i = 0; i < D; ++i) sum[j][i] = resume ? load(out + j * kQueryStride + feature + 16 * i) : splat(0.0f);
  for (int s = 0; s < stretch_count; ++s) {
    const T* values = stretches[s].values + feature;
    const T* next = stretches[s + 1 < stretch_count ? s + 1 : s].values + feature;
    const float* w = weight + stretches[s].offset;
    int64_t w_stride = kScoreStride;
    float scaled[kScaled<T> ? Q : 1][16];
    if constexpr (kScaled<T>) {  // the shares of all positions at once; lanes from `count` on are whatever lies there, and are not used
      static_assert(D * 16 <= kKvBlock);
      const int64_t row = feature / kKvBlock * kPagePositions;
      const Lanes block_scale = load(stretches[s].scales + row);
      prefetch(stretches[s + 1 < stretch_count ? s + 1 : s].scales + row);
#pragma GCC unroll 6
      for (int j = 0; j < Q; ++j) store(scaled[j], multiply(load(w + j * kScoreStride), block_scale));
      w = scaled[0];
      w_stride = 16;
    }
    for (int p = 0; p < stretches[s].count; ++p, values += head_dim, next += head_dim, ++w) {
      prefetch(next);
      if constexpr (D * 16 * sizeof(T) > 64) prefetch(next + 64 / sizeof(T));
      Lanes value[D];
#pragma GCC unroll 4
      for (int i = 0; i < D; ++i) value[i] = load(values + 16 * i);
#pragma GCC unroll 6
      for (int j = 0; j < Q; ++j) {
        const Lanes share = splat(w[j * w_stride]);
#pragma GCC unroll 4
        for (int i = 0; i < D; ++i) sum[j][i] = fused(share, value[i], sum[j][i]);
      }
    }
  }
#pragma GCC unroll 6
  for (int j = 0; j < Q; ++j)
#pragma GCC unroll 4
    for (int i = 0; i < D; ++i) store(out + j * kQueryStride + feature + 16 * i, sum[j][i]);
}

template <class T>
using AddValues = void (*)(const Stretch<T>*, int, int, const float*, float*, int, bool);

// Queries that one pass over D vectors of values serves.
constexpr int most_weighed(int d) { return kAccumulators / d < 1 ? 1 : kAccumulators / d > 6 ? 6 : kAccumulators / d; }

// The kernel for Q queries; table entries that no pass is wide enough to choose repeat the widest one.
template <class T, int Q, int D>
constexpr AddValues<T> kAddValues = add_values<T, (Q < most_weighed(D) ? Q : most_weighed(D)), D>;

template <class T, int D>
inline void add_values_to_all(const Stretch<T>* stretches, int stretch_count, int head_dim, const float* weight, float* out, int queries,
                              int feature, bool resume) {
  constexpr AddValues<T> kTable[] = {kAddValues<T, 1, D>, kAddValues<T, 2, D>, kAddValues<T, 3, D>,
                                     kAddValues<T, 4, D>, kAddValues<T, 5, D>, kAddValues<T, 6, D>};
  constexpr int kMost = most_weighed(D);
  const int passes = (queries + kMost - 1) / kMost;
  for (int pass = 0, begin = 0; pass < passes; ++pass) {
    const int end = queries * (pass + 1) / passes;
    kTable[end - begin - 1](stretches, stretch_count, head_dim, weight + begin * kScoreStride, out + begin * kQueryStride, feature, resume);
    begin = end;
  }
}

// Adds the values of some stretches, weighted, to the outputs of `queries` queries, feature block by feature block.
template <class T>
inline void add_stretches(const Stretch<T>* stretches, int stretch_count, int head_dim, const float* weight, float* out, int queries,
                          bool resume) {
  if (stretch_count == 0) return;
  int feature = 0;
  if constexpr (!kScaled<T>) {  // a block has one scale, so Q8_0 goes no wider than that
    if (kAccumulators / 4 >= 4 || kAccumulators / 4 >= queries)
      for (; feature + 64 <= head_dim; feature += 64)
        add_values_to_all<T, 4>(stretches, stretch_count, head_dim, weight, out, queries, feature, resume);
  }
  for (; feature + 32 <= head_dim; feature += 32)
    add_values_to_all<T, 2>(stretches, stretch_count, head_dim, weight, out, queries, feature, resume);
  if (feature < head_dim) add_values_to_all<T, 1>(stretches, stretch_count, head_dim, weight, out, queries, feature, resume);
}

// ---- phase one ----------------------------------------------------------------------------------------------------------------

// The part of a row that lies in the item's chunk, as offsets from the chunk's begin.
struct RowPart {
  const AttentionRow* row;
  int index;           // within the item
  int32_t begin;       // the first position seen
  int32_t contiguous;  // positions [begin, contiguous) are at the slots of the same numbers
  int32_t end;         // positions [contiguous, end) are the row's path from path[first] on
  int32_t first;
};

template <class T>
inline const T* at(const AttentionItem& item, int32_t page, size_t offset) {
  return reinterpret_cast<const T*>(item.data + static_cast<size_t>(page) * item.page_bytes + offset);
}

// Scores of positions [begin, end) at the slots of their numbers, in whole pages.
template <class T>
inline void score_contiguous(const AttentionItem& item, const int32_t* pages, int32_t begin, int32_t end, int queries, const float* q,
                             float* score) {
  const int count = (end + kPagePositions - 1) / kPagePositions;
  const int32_t* chunk_pages = pages + item.chunk_begin / kPagePositions;
  for (int p = begin / kPagePositions; p < count; p += kGroupPages) {
    const int together = count - p < kGroupPages ? count - p : kGroupPages;
    const T *keys[kGroupPages] = {}, *next[kGroupPages] = {};
    for (int i = 0; i < together; ++i) {
      keys[i] = at<T>(item, chunk_pages[p + i], item.keys_offset);
      const int ahead = p + i + together;
      next[i] = at<T>(item, chunk_pages[ahead < count ? ahead : count - 1], item.keys_offset);
    }
    score_all<T>(item, queries, q, keys, next, together, score + p * kPagePositions, kScoreStride);
  }
}

// Scores of the positions on the rows' paths. A score does not depend on the lane it is computed in, so each page that some path
// touches is scored once, for all rows, and the lanes that the paths name are picked.
template <class T>
inline void score_paths(const AttentionItem& item, const int32_t* pages, const RowPart* parts, int part_count, const float* q, float* score,
                        float* page_score) {
  for (int32_t done = -1;;) {  // page table entries up to `done` have been scored
    int32_t entry = INT32_MAX;
    for (int r = 0; r < part_count; ++r)
      for (int32_t p = parts[r].contiguous; p < parts[r].end; ++p) {
        const int32_t of_slot = parts[r].row->path[parts[r].first + p - parts[r].contiguous] / kPagePositions;
        if (of_slot > done && of_slot < entry) entry = of_slot;
      }
    if (entry == INT32_MAX) return;
    const T* keys = at<T>(item, pages[entry], item.keys_offset);
    score_all<T>(item, part_count * item.group, q, &keys, &keys, 1, page_score, kPagePositions);
    for (int r = 0; r < part_count; ++r)
      for (int32_t p = parts[r].contiguous; p < parts[r].end; ++p) {
        const int32_t slot = parts[r].row->path[parts[r].first + p - parts[r].contiguous];
        if (slot / kPagePositions != entry) continue;
        for (int j = r * item.group; j < (r + 1) * item.group; ++j)
          score[j * kScoreStride + p] = page_score[j * kPagePositions + slot % kPagePositions];
      }
    done = entry;
  }
}

// Turns the scores of positions [begin, end) into weights in place; returns their maximum and the sum of the weights. Lanes of begin's
// vector that lie before it get the score of minus infinity, which changes no maximum and weighs 0.
inline void weigh(float* score, int32_t begin, int32_t end, float cap, float& max, float& sum) {
  const int32_t from = begin / 16 * 16, whole = end / 16 * 16;
  const int rest = static_cast<int>(end - whole);
  if (cap > 0.0f) {
    for (int32_t p = from; p < whole; p += 16) store(score + p, soft_cap(load(score + p), cap));
    if (rest > 0) store_first(score + whole, soft_cap(load_first(score + whole, rest, 0.0f), cap), rest);
  }
  for (int32_t p = from; p < begin; ++p) score[p] = -__builtin_inff();
  Lanes top = splat(-__builtin_inff());
  for (int32_t p = from; p < whole; p += 16) top = greater(top, load(score + p));
  if (rest > 0) top = greater(top, load_first(score + whole, rest, -__builtin_inff()));
  max = tree_greater(top);
  const Lanes maximum = splat(max);
  Lanes total = splat(0.0f);
  for (int32_t p = from; p < whole; p += 16) {
    const Lanes weight = exp(subtract(load(score + p), maximum));
    total = add(total, weight);
    store(score + p, weight);
  }
  if (rest > 0) {
    const Lanes weight = exp(subtract(load_first(score + whole, rest, 0.0f), maximum));
    total = add(total, keep_first(weight, rest));
    store_first(score + whole, weight, rest);
  }
  sum = tree_sum(total);
}

// `count` slots from `slot` on, of one page, which hold the positions from `offset` on.
template <class T>
inline Stretch<T> stretch_at(const AttentionItem& item, const int32_t* pages, int32_t slot, int32_t offset, int32_t count) {
  const int32_t page = pages[slot / kPagePositions], in_page = slot % kPagePositions;
  return {at<T>(item, page, item.values_offset) + in_page * item.head_dim,
          kScaled<T> ? at<uint16_t>(item, page, item.value_scales_offset) + in_page : nullptr, offset, count};
}

// The stretches of positions [begin, end) at the slots of their numbers.
template <class T>
inline int contiguous_stretches(const AttentionItem& item, const int32_t* pages, int32_t begin, int32_t end, Stretch<T>* out) {
  int count = 0;
  while (begin < end) {
    const int32_t slot = item.chunk_begin + begin, to_border = kPagePositions - slot % kPagePositions;
    const int32_t n = to_border < end - begin ? to_border : end - begin;
    out[count++] = stretch_at<T>(item, pages, slot, begin, n);
    begin += n;
  }
  return count;
}

template <class T>
inline int path_stretches(const AttentionItem& item, const int32_t* pages, const RowPart& part, Stretch<T>* out) {
  int count = 0;
  for (int32_t p = part.contiguous; p < part.end; ++p) {
    out[count++] = stretch_at<T>(item, pages, part.row->path[part.first + p - part.contiguous], p, 1);
  }
  return count;
}

// The values of positions [begin, end), which all queries see. Where few queries fit the registers, a vector of F16 values would be widened
// anew for each three of them: so they are widened once, as many positions at a time as stay in L1, and the sums go on from piece to piece.
template <class T>
inline void add_shared(const AttentionItem& item, const int32_t* pages, int32_t begin, int32_t end, const float* weight, float* out,
                       int queries, bool resume) {
  Stretch<T> stretches[kMaxStretches];
  if constexpr (kWidenShared && sizeof(T) == sizeof(uint16_t)) {
    if (queries >= 2 * most_weighed(2)) {
      constexpr int kWide = 4096;  // 16 KiB
      alignas(64) float wide[kWide];
      const int32_t together = kWide / item.head_dim / kPagePositions * kPagePositions;
      for (int32_t from = begin; from < end;) {
        int32_t to = (item.chunk_begin + from) / kPagePositions * kPagePositions + together - item.chunk_begin;  // ends with a page
        if (to > end) to = end;
        const int count = contiguous_stretches<T>(item, pages, from, to, stretches);
        float* at_row = wide;
        for (int s = 0; s < count; ++s) {
          const int floats = stretches[s].count * item.head_dim;
          for (int i = 0; i < floats; i += 16) store(at_row + i, load(stretches[s].values + i));
          at_row += floats;
        }
        const Stretch<float> all{wide, nullptr, from, to - from};
        add_stretches<float>(&all, 1, item.head_dim, weight, out, queries, resume);
        resume = true;
        from = to;
      }
      return;
    }
  }
  const int count = contiguous_stretches<T>(item, pages, begin, end, stretches);
  add_stretches<T>(stretches, count, item.head_dim, weight, out, queries, resume);
}

template <class T>
void partial_of(const AttentionItem& item) {
  RowPart parts[kAttentionRowBlock];
  int part_count = 0;
  int32_t lowest = kAttentionChunk, longest = 0;           // positions [lowest, longest) are seen contiguously by some row,
  int32_t shared_begin = 0, shared_end = kAttentionChunk;  // [shared_begin, shared_end) by all rows
  for (int r = 0; r < item.row_count; ++r) {
    const AttentionRow& row = item.rows[r];
    const int32_t begin = row.first > item.chunk_begin ? row.first - item.chunk_begin : 0;
    int32_t end = row.prefix + row.path_length - item.chunk_begin;
    if (end > kAttentionChunk) end = kAttentionChunk;
    if (begin >= end) continue;
    int32_t contiguous = row.prefix - item.chunk_begin;
    contiguous = contiguous < begin ? begin : contiguous > end ? end : contiguous;
    parts[part_count++] = {&row, r, begin, contiguous, end, item.chunk_begin + contiguous - row.prefix};
    if (begin < contiguous && begin < lowest) lowest = begin;
    if (begin < contiguous && contiguous > longest) longest = contiguous;
    if (begin > shared_begin) shared_begin = begin;
    if (contiguous < shared_end) shared_end = contiguous;
  }
  if (part_count == 0) return;
  if (shared_begin >= shared_end) shared_begin = shared_end = 0;

  const int group = item.group, queries = part_count * group;
  const int32_t* pages = item.rows[0].pages;
  float* q = item.scratch;
  float* score = q + static_cast<int64_t>(item.row_count) * group * kQueryStride;
  float* page_score = score + static_cast<int64_t>(item.row_count) * group * kScoreStride;
  for (int r = 0; r < part_count; ++r)
    for (int g = 0; g < group; ++g) {
      const float* from = parts[r].row->q + item.first_query + static_cast<int64_t>(g) * item.head_dim;
      for (int d = 0; d < item.head_dim; d += 16) store(q + (r * group + g) * kQueryStride + d, load(from + d));
    }

  score_contiguous<T>(item, pages, lowest, longest, queries, q, score);
  score_paths<T>(item, pages, parts, part_count, q, score, page_score);

  for (int r = 0; r < part_count; ++r)
    for (int g = 0; g < group; ++g) {
      const int64_t index = parts[r].index * item.row_stride + g * item.head_stride;
      weigh(score + (r * group + g) * kScoreStride, parts[r].begin, parts[r].end, item.soft_cap, item.max[index], item.sum[index]);
    }

  // The outputs take the queries' place in the scratch, so that they lie one stride apart. Each is one chain over ascending positions:
  // what its row sees before the positions that all rows share (where windows begin apart), then those, for all queries at once, then
  // what the row sees beyond them.
  float* out = q;
  Stretch<T> stretches[kMaxStretches];
  bool resume = false;  // do the outputs hold sums to go on from
  for (int r = 0; r < part_count; ++r) resume = resume || parts[r].begin < shared_begin;
  if (resume) {
    for (int j = 0; j < queries; ++j)
      for (int d = 0; d < item.head_dim; d += 16) store(out + j * kQueryStride + d, splat(0.0f));
    for (int r = 0; r < part_count; ++r) {
      const int own = contiguous_stretches<T>(item, pages, parts[r].begin, shared_begin, stretches);
      add_stretches<T>(stretches, own, item.head_dim, score + r * group * kScoreStride, out + r * group * kQueryStride, group, true);
    }
  }
  if (shared_begin < shared_end) {
    add_shared<T>(item, pages, shared_begin, shared_end, score, out, queries, resume);
    resume = true;
  }
  for (int r = 0; r < part_count; ++r) {
    const int32_t beyond = parts[r].begin > shared_end ? parts[r].begin : shared_end;
    int own = contiguous_stretches<T>(item, pages, beyond, parts[r].contiguous, stretches);
    own += path_stretches<T>(item, pages, parts[r], stretches + own);
    add_stretches<T>(stretches, own, item.head_dim, score + r * group * kScoreStride, out + r * group * kQueryStride, group, resume);
    for (int g = 0; g < group; ++g) {
      float* to = item.out + (parts[r].index * item.row_stride + g * item.head_stride) * item.head_dim;
      for (int d = 0; d < item.head_dim; d += 16) store(to + d, load(out + (r * group + g) * kQueryStride + d));
    }
  }
}

void partial(const AttentionItem& item) {
  switch (item.type) {
    case KvType::f16: return partial_of<uint16_t>(item);
    case KvType::f32: return partial_of<float>(item);
    case KvType::q8_0: return partial_of<int8_t>(item);
  }
}

// ---- phase two ----------------------------------------------------------------------------------------------------------------

void combine(const CombineRow& row) {
  for (int h = 0; h < row.heads; ++h) {
    const float* max = row.partial_max + h * row.chunks;
    const float* sum = row.partial_sum + h * row.chunks;
    const float* partial_out = row.partial_out + h * row.chunks * row.head_dim;
    float* out = row.out + static_cast<int64_t>(h) * row.head_dim;
    float top = max[row.first];
    for (int64_t c = row.first + 1; c < row.used; ++c) top = max[c] > top ? max[c] : top;
    Lanes length = splat(0.0f);
    for (int d = 0; d < row.head_dim; d += 16) store(out + d, splat(0.0f));
    for (int64_t c = row.first; c < row.used; ++c) {
      const Lanes factor = exp(subtract(splat(max[c]), splat(top)));
      length = fused(factor, splat(sum[c]), length);
      for (int d = 0; d < row.head_dim; d += 16) store(out + d, fused(factor, load(partial_out + c * row.head_dim + d), load(out + d)));
    }
    for (int d = 0; d < row.head_dim; d += 16) store(out + d, divide(load(out + d), length));
  }
}

// ---- storing ------------------------------------------------------------------------------------------------------------------

void store_key_f16(const float* k, int64_t n, uint16_t* keys) {
  for (int64_t d = 0; d < n; d += 16) {
    uint16_t halves[16];
    store(halves, load(k + d));
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) keys[(d + i) * kPagePositions] = halves[i];
  }
}

void store_f16(const float* v, int64_t n, uint16_t* values) {
  for (int64_t d = 0; d < n; d += 16) store(values + d, load(v + d));
}

void quantize_block(const float* x, int width, int8_t* quants, uint16_t* scale) {
  const Lanes first = load(x), second = load(x + width - 16);
  const float amax = tree_greater(greater(magnitude(first), magnitude(second)));
  uint16_t rounded[16];
  store(rounded, splat(amax / 127.0f));
  // Only a NaN is unequal to itself; where there is one, amax means nothing.
  const bool bad = (bits_equal(first, first) & bits_equal(second, second)) != 0xffff || rounded[0] >= 0x7c00;
  *scale = bad ? 0x7e00 : rounded[0];
  const bool zero = bad || rounded[0] == 0;
  const Lanes factor = splat(zero ? 0.0f : 127.0f / amax);
  store(quants, zero ? factor : multiply(first, factor));
  if (width > 16) store(quants + 16, zero ? factor : multiply(second, factor));
}

constexpr AttentionOps kOps = {partial, combine, store_key_f16, store_f16, quantize_block};

}  // namespace
}  // namespace outrider::kernels
