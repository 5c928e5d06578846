#include "model/transformer.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>

namespace outrider::model {
namespace {

using kernels::Activations;
using kernels::AlignedBuffer;
using kernels::Isa;
using kernels::PackedMatrix;
using kernels::Worker;

// Items of one region that threads claim in pieces, large ones first and small ones at the end: on a shared machine one processor is slower
// than another at any moment, and equal shares would have the others wait for it. Which thread computes an item changes no bit.
class Claims {
 public:
  void reset() { next_.store(0, std::memory_order_relaxed); }  // before the threads start

  // Calls f(begin, end) until all `items` are claimed, by this thread or others; pieces begin at multiples of `unit`.
  template <class F>
  void run(const Worker& worker, int64_t items, int64_t unit, F&& f) {
    for (int64_t begin = next_.load(std::memory_order_relaxed); begin < items;) {
      const int64_t piece = std::max((items - begin) / (2 * worker.count) / unit * unit, unit), end = std::min(begin + piece, items);
      if (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed)) continue;
      f(begin, end);
      begin = next_.load(std::memory_order_relaxed);
    }
  }

 private:
  alignas(64) std::atomic<int64_t> next_{0};
};

// What a thread that waits for the others will probably read first of `weight`: the one it waits for comes through the barrier first and
// claims the first piece, so this one gets the second. No more than a core's own cache holds beside the activations.
std::span<const std::byte> second_piece(const Worker& worker, const PackedMatrix& weight) {
  constexpr size_t kMost = 256 << 10;
  const auto offset = static_cast<size_t>(weight.group(weight.groups() / (2 * worker.count)) - weight.group(0));
  return {weight.group(0) + offset, std::min(kMost, weight.bytes() - offset)};
}

// A linear layer, row r to out[r * stride].
void linear(const Worker& worker, Claims& claims, Isa isa, const Activations& in, const PackedMatrix& weight, float* out, int64_t stride) {
  claims.run(worker, weight.groups(), 2, [&](int64_t begin, int64_t end) { kernels::matmul(isa, weight, in, out, stride, begin, end); });
}

// One output of a region of linear layers whose input comes in two terms.
struct Terms {
  const PackedMatrix& weight;  // (features, in)
  float* out;                  // [rows, 2, features]: of each term; a float weight leaves the second one alone
};

// Several linear layers of one input as one region: the threads share out all their output groups together, so that a narrow layer
// (K and V of a grouped-query model) costs no barrier of its own and leaves no thread idle. The input is `plain` [rows] for float weights,
// else `terms` [2 rows]: a row, then what its quantisation left.
template <size_t N>
void linear(const Worker& worker, Claims& claims, Isa isa, const Activations& plain, const Activations& terms, const Terms (&outputs)[N]) {
  int64_t total = 0;
  for (const Terms& output : outputs) total += output.weight.groups();
  claims.run(worker, total, 2, [&](int64_t piece_begin, int64_t piece_end) {
    int64_t first = 0;
    for (const Terms& output : outputs) {
      const int64_t begin = std::max<int64_t>(piece_begin - first, 0), end = std::min(piece_end - first, output.weight.groups());
      first += output.weight.groups();
      if (begin >= end) continue;
      const bool floats = kernels::is_float_type(output.weight.type());
      kernels::matmul(isa, output.weight, floats ? plain : terms, output.out, output.weight.rows() * (floats ? 2 : 1), begin, end);
    }
  });
}

// Adds the second term to the first, and the bias; `terms` is [2, features].
void add_terms(Isa isa, const PackedMatrix& weight, const std::vector<float>& bias, float* terms) {
  if (!kernels::is_float_type(weight.type())) kernels::add(isa, terms, terms + weight.rows(), weight.rows());
  if (!bias.empty()) kernels::add(isa, terms, bias.data(), weight.rows());
}

}  // namespace

// The vocabulary is gone through in pieces of so many features: a piece of 16 rows is 64 KiB and stays in a core's own cache, so logits
// that nobody asked for never reach memory.
constexpr int64_t kHeadPiece = 1024;

// The greatest logit of a row among those one thread has computed, in whatever order; of equal ones the lowest token.
struct Best {
  float value = 0;
  int32_t token = -1;  // -1: none yet
  bool bad = false;    // NaN or infinity

  void offer(float other, int32_t its_token) {
    if (token < 0 || other > value || (other == value && its_token < token)) value = other, token = its_token;
  }
};

// In a pass of at most so many rows each thread does the verbs that go row by row (norms, quantisation, combining attention) for itself,
// for all rows: a row of a small model takes less than a microsecond, and so does meeting the other threads to share rows out.
constexpr int64_t kRowsAlone = 4;

// What the verbs that go row by row write: one for all threads, or one a thread.
struct RowBuffers {
  AlignedBuffer<float> residual;  // [rows, hidden]: the stream that layers add to
  AlignedBuffer<float> normed;    // [rows, 2, hidden]: a row and, for attention's layers, what its quantisation left
  AlignedBuffer<float> attended;  // [rows, 2, q_size]: likewise
  AlignedBuffer<float> wanted;    // [wanted rows, hidden]
  Activations hidden_in, hidden_terms_in, attended_in, attended_terms_in, head_in;

  void ensure(const Architecture& a, size_t rows, size_t wanted_rows) {
    residual.ensure(rows * a.hidden_size), normed.ensure(rows * 2 * a.hidden_size);
    attended.ensure(rows * 2 * a.q_size());
    wanted.ensure(wanted_rows * a.hidden_size);
    const auto m = static_cast<int64_t>(rows);
    hidden_in.assign(normed.data(), m, a.hidden_size, 2 * a.hidden_size);
    hidden_terms_in.assign(normed.data(), 2 * m, a.hidden_size, a.hidden_size);
    attended_in.assign(attended.data(), m, a.q_size(), 2 * a.q_size());
    attended_terms_in.assign(attended.data(), 2 * m, a.q_size(), a.q_size());
    head_in.assign(wanted.data(), static_cast<int64_t>(wanted_rows), a.hidden_size, a.hidden_size);
  }
};

struct Transformer::Buffers {
  std::vector<RowBuffers> by_row;  // [threads]; a pass of many rows uses the first alone
  AlignedBuffer<float> q;          // [rows, 2, q_size]: both terms, then the sum in the first
  AlignedBuffer<float> k, v;       // [rows, 2, kv_size]
  AlignedBuffer<float> gate, up;   // [rows, ffn]
  AlignedBuffer<float> delta;      // [rows, 2, hidden]: what a block adds to the stream; the second term is attention's alone
  AlignedBuffer<float> logits;     // [rows that want logits, vocab]
  AlignedBuffer<float> piece;      // [threads, wanted rows, kHeadPiece]
  Activations ffn_in;
  std::vector<kernels::AttentionRow> attention_rows, local_rows;  // what a row sees in a global layer and in a local one
  std::vector<int32_t> wanted_rows;
  std::vector<int32_t> logits_rows;  // (wanted rows): the row of `logits`, -1 for a token alone
  std::vector<int32_t> arg_max;      // (wanted rows)
  std::vector<Best> best;            // [threads, wanted rows]
  size_t logits_count = 0;
  kernels::AttentionScratch attention;

  // What threads claim in one layer.
  struct LayerClaims {
    Claims qkv, attention, output, gated, down;
  };
  std::unique_ptr<LayerClaims[]> claims;  // (layers)
  Claims head_claims;

  void ensure(const Architecture& a, const Batch& batch, size_t threads) {
    if (claims == nullptr) claims = std::make_unique<LayerClaims[]>(static_cast<size_t>(a.layers));
    for (int32_t l = 0; l < a.layers; ++l) {
      LayerClaims& layer = claims[static_cast<size_t>(l)];
      for (Claims* one : {&layer.qkv, &layer.attention, &layer.output, &layer.gated, &layer.down}) one->reset();
    }
    head_claims.reset();
    const size_t rows = batch.rows.size();
    q.ensure(rows * 2 * a.q_size());
    k.ensure(rows * 2 * a.kv_size()), v.ensure(rows * 2 * a.kv_size());
    gate.ensure(rows * a.ffn_size), up.ensure(rows * a.ffn_size);
    delta.ensure(rows * 2 * a.hidden_size);
    ffn_in.assign(gate.data(), static_cast<int64_t>(rows), a.ffn_size, a.ffn_size);
    wanted_rows.clear();
    logits_rows.clear();
    attention_rows.clear(), local_rows.clear();
    logits_count = 0;
    for (size_t r = 0; r < rows; ++r) {
      const BatchRow& row = batch.rows[r];
      assert(row.prefix + row.path_length == row.position + 1);
      if (row.want != Want::nothing) {
        wanted_rows.push_back(static_cast<int32_t>(r));
        logits_rows.push_back(row.want == Want::logits ? static_cast<int32_t>(logits_count++) : -1);
      }
      attention_rows.push_back(
          {q.data() + r * 2 * a.q_size(), row.sequence->pages.data(), row.prefix, batch.paths.data() + row.path_begin, row.path_length});
      if (a.local.empty()) continue;
      local_rows.push_back(attention_rows.back());
      local_rows.back().first = std::max(row.position - a.window + 1, 0);  // a tree's node counts by its depth, as its keys do
    }
    logits.ensure(logits_count * static_cast<size_t>(a.vocab_size));
    if (logits_count < wanted_rows.size()) piece.ensure(threads * wanted_rows.size() * kHeadPiece);
    arg_max.resize(wanted_rows.size());
    best.assign(threads * wanted_rows.size(), Best());
    by_row.resize(threads);
    const size_t used = static_cast<int64_t>(rows) <= kRowsAlone ? threads : 1;
    for (size_t t = 0; t < used; ++t) by_row[t].ensure(a, rows, wanted_rows.size());
  }
};

namespace {

// Gate and up, activation and quantisation of the same features, so that none of them waits for another thread. Pieces are whole blocks of
// 32 features, which are two groups.
template <class Activate>
void gated(const Worker& worker, Claims& claims, Isa isa, const Activations& in, const Layer& layer, Activate activate,
           Transformer::Buffers& b) {
  const int64_t features = layer.gate.rows();
  claims.run(worker, layer.gate.groups(), 2, [&](int64_t begin, int64_t end) {
    kernels::matmul(isa, layer.gate, in, b.gate.data(), features, begin, end);
    kernels::matmul(isa, layer.up, in, b.up.data(), features, begin, end);
    const int64_t from = begin * kernels::kLanes, to = std::min(end * kernels::kLanes, features);
    for (int64_t r = 0; r < in.rows(); ++r) {
      float* gate = b.gate.data() + r * features + from;
      activate(isa, gate, b.up.data() + r * features + from, to - from, gate);
    }
    b.ffn_in.quantize_blocks(isa, 0, in.rows(), from / 32, to / 32);
  });
}

// The head for all wanted rows: logits to where they are wanted, and each row's best of what this thread computed.
void head(const Worker& worker, Isa isa, const Activations& in, const PackedMatrix& weight, const std::vector<float>& bias, float soft_cap,
          Transformer::Buffers& b) {
  const int64_t rows = in.rows(), vocab = weight.rows();
  const bool direct = b.logits_count == b.wanted_rows.size();
  float* own_piece = b.piece.data() + worker.index * rows * kHeadPiece;
  Best* best = b.best.data() + worker.index * rows;
  constexpr int64_t kGroups = kHeadPiece / kernels::kLanes;
  const auto piece = [&](int64_t group, int64_t end) {
    const int64_t first = group * kernels::kLanes, count = std::min(end * kernels::kLanes, vocab) - first;
    // matmul writes feature f of row r to out[r * stride + f].
    float* out = direct ? b.logits.data() : own_piece - first;
    const int64_t stride = direct ? vocab : kHeadPiece;
    kernels::matmul(isa, weight, in, out, stride, group, end);
    for (int64_t r = 0; r < rows; ++r) {
      float* values = out + r * stride + first;
      if (!bias.empty()) kernels::add(isa, values, bias.data() + first, count);
      if (soft_cap > 0) kernels::soft_cap(isa, values, soft_cap, count);
      const int64_t at = kernels::arg_max(isa, values, count);
      if (at < 0)
        best[r].bad = true;
      else
        best[r].offer(values[at], static_cast<int32_t>(first + at));
      const int32_t wanted = b.logits_rows[static_cast<size_t>(r)];
      if (!direct && wanted >= 0) std::copy_n(values, count, b.logits.data() + wanted * vocab + first);
    }
  };
  b.head_claims.run(worker, weight.groups(), 4, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; group += kGroups) piece(group, std::min(group + kGroups, end));
  });
}

}  // namespace

Transformer::Transformer(Architecture architecture, Weights weights, kernels::ThreadPool& pool, kernels::Isa isa)
    : architecture_(std::move(architecture)),
      weights_(std::move(weights)),
      pool_(pool),
      isa_(isa),
      rope_table_(architecture_.rotary, architecture_.rope_base, architecture_.rope_scaling),
      local_rope_table_(architecture_.rotary, architecture_.local_rope_base, {}),
      buffers_(std::make_unique<Buffers>()) {}

Transformer::~Transformer() = default;

Result<std::unique_ptr<Transformer>> Transformer::load(const formats::GgufFile& file, kernels::ThreadPool& pool, kernels::Isa isa,
                                                       const std::filesystem::path& repack_cache) {
  OUTRIDER_TRY(Architecture architecture, read_architecture(file));
  OUTRIDER_TRY(Weights weights, load_weights(file, architecture, pool, repack_cache));
  return std::make_unique<Transformer>(std::move(architecture), std::move(weights), pool, isa);
}

// Every thread walks this same list; a barrier stands wherever a verb reads what other threads wrote, and the region between two barriers
// never writes what another thread may still be reading. Steps over rows split by row (or are done by each thread alone), linear layers by
// output feature, attention by KV head, chunk and row block, in pieces that threads claim: no split changes a bit.
Output Transformer::forward(const Batch& batch, KvCache& cache) {
  const Architecture& a = architecture_;
  Buffers& b = *buffers_;
  b.ensure(a, batch, static_cast<size_t>(pool_.size()));
  if (batch.rows.empty()) return {};
  int32_t last_position = 0;
  for (const BatchRow& row : batch.rows) last_position = std::max(last_position, row.position);
  rope_table_.grow(last_position + 1);
  if (!a.local.empty()) local_rope_table_.grow(last_position + 1);

  const auto rows = static_cast<int64_t>(batch.rows.size()), wanted_rows = static_cast<int64_t>(b.wanted_rows.size());
  const bool alone = rows <= kRowsAlone;
  const int64_t hidden = a.hidden_size;
  const kernels::AttentionShape shape{a.heads, a.attention_scale, a.attention_soft_cap};
  kernels::attention_prepare(b.attention, cache.layer(0), shape, b.attention_rows, pool_.size());
  const int64_t global_items = kernels::attention_items(cache.layer(0), b.attention_rows);
  const int64_t local_items = kernels::attention_items(cache.layer(0), b.local_rows);
  const auto activate = a.gate_activation == GateActivation::gelu ? kernels::gelu_multiply : kernels::silu_multiply;

  pool_.run([&](const Worker& worker) {
    RowBuffers& own = b.by_row[alone ? static_cast<size_t>(worker.index) : 0];
    float *residual = own.residual.data(), *normed = own.normed.data();
    const auto shared_out = worker.share(rows);
    const Worker::Share mine = alone ? Worker::Share{0, rows} : shared_out;
    // After a verb that goes row by row.
    const auto share_rows = [&] {
      if (!alone) worker.barrier();
    };
    const auto norm = [&](const float* x, const std::vector<float>& weight, float* out) {
      kernels::rms_norm(isa_, x, weight.data(), static_cast<int64_t>(weight.size()), a.norm_epsilon, out);
    };
    const auto norm_heads = [&](float* x, int32_t heads, const std::vector<float>& weight) {
      if (weight.empty()) return;
      for (int32_t h = 0; h < heads; ++h) norm(x + h * a.head_dim, weight, x + h * a.head_dim);
    };
    const auto norm_rows = [&](const std::vector<float>& weight) {
      for (int64_t r = mine.begin; r < mine.end; ++r) norm(residual + r * hidden, weight, normed + r * 2 * hidden);
    };
    // Attention's linear layers get what quantisation left as a second term: they lose most by it, and are a fifth of a small model's work
    // and less of a large one's.
    const auto quantize_terms = [&](Activations& plain, Activations& terms, float* x) {
      const int64_t size = plain.cols();
      plain.quantize(isa_, mine.begin, mine.end);
      if (size % 32 != 0) return;  // then no weight is quantised
      for (int64_t r = mine.begin; r < mine.end; ++r) plain.residual(isa_, r, x + (r * 2 + 1) * size);
      terms.quantize(isa_, mine.begin * 2, mine.end * 2);
    };
    // `y` is a row of delta's form. It is everybody's, so what is made of it goes to this thread's `normed`, which is free by now.
    const auto add_to_stream = [&](const PackedMatrix* of_terms, const std::vector<float>* bias, const std::vector<float>& post_norm) {
      for (int64_t r = mine.begin; r < mine.end; ++r) {
        const float* delta = b.delta.data() + r * 2 * hidden;
        float* own_delta = normed + r * 2 * hidden;
        if (of_terms != nullptr) {
          std::copy_n(delta, 2 * hidden, own_delta);
          add_terms(isa_, *of_terms, *bias, own_delta);
          delta = own_delta;
        }
        if (!post_norm.empty()) {
          norm(delta, post_norm, own_delta);
          delta = own_delta;
        }
        kernels::add(isa_, residual + r * hidden, delta, hidden);
      }
    };

    for (int64_t r = mine.begin; r < mine.end; ++r) {
      weights_.embedding.dequantize_row(batch.rows[r].token, residual + r * hidden);
      for (float& x : std::span(residual + r * hidden, static_cast<size_t>(hidden))) x *= a.embedding_scale;
    }
    for (int32_t l = 0; l < a.layers; ++l) {
      const Layer& layer = weights_.layers[static_cast<size_t>(l)];
      const kernels::KvLayer kv = cache.layer(l);
      const bool local = a.is_local(l);
      Buffers::LayerClaims& claims = b.claims[static_cast<size_t>(l)];
      const std::vector<kernels::AttentionRow>& seen = local ? b.local_rows : b.attention_rows;
      const int64_t items = local ? local_items : global_items;

      norm_rows(layer.attention_norm);
      quantize_terms(own.hidden_in, own.hidden_terms_in, normed);
      share_rows();
      linear(worker, claims.qkv, isa_, own.hidden_in, own.hidden_terms_in, {{layer.q, b.q.data()}, {layer.k, b.k.data()}, {layer.v, b.v.data()}});
      worker.barrier(second_piece(worker, layer.output));
      for (int64_t r = shared_out.begin; r < shared_out.end; ++r) {  // q, k and the cache are everybody's
        const BatchRow& row = batch.rows[r];
        const float* angles = (local ? local_rope_table_ : rope_table_).row(row.position);
        float *q = b.q.data() + r * 2 * a.q_size(), *k = b.k.data() + r * 2 * a.kv_size(), *v = b.v.data() + r * 2 * a.kv_size();
        add_terms(isa_, layer.q, layer.q_bias, q);
        add_terms(isa_, layer.k, layer.k_bias, k);
        add_terms(isa_, layer.v, layer.v_bias, v);
        norm_heads(q, a.heads, layer.q_norm);
        norm_heads(k, a.kv_heads, layer.k_norm);
        kernels::rope(isa_, q, a.heads, a.head_dim, a.rotary, a.rope_pairs, angles);
        kernels::rope(isa_, k, a.kv_heads, a.head_dim, a.rotary, a.rope_pairs, angles);
        kernels::kv_store(isa_, kv, row.sequence->pages.data(), row.slot, k, v);
      }
      worker.barrier(second_piece(worker, layer.output));
      claims.attention.run(worker, items, 1, [&](int64_t begin, int64_t end) {
        kernels::attention_partial(isa_, kv, shape, seen, b.attention, worker.index, begin, end);
      });
      worker.barrier(second_piece(worker, layer.output));
      kernels::attention_combine(isa_, kv, shape, seen, b.attention, mine.begin, mine.end, own.attended.data(), 2 * a.q_size());
      quantize_terms(own.attended_in, own.attended_terms_in, own.attended.data());
      share_rows();
      linear(worker, claims.output, isa_, own.attended_in, own.attended_terms_in, {{layer.output, b.delta.data()}});
      worker.barrier(second_piece(worker, layer.gate));
      add_to_stream(&layer.output, &layer.output_bias, layer.post_attention_norm);

      norm_rows(layer.ffn_norm);
      own.hidden_in.quantize(isa_, mine.begin, mine.end);
      share_rows();
      gated(worker, claims.gated, isa_, own.hidden_in, layer, activate, b);
      worker.barrier(second_piece(worker, layer.down));
      linear(worker, claims.down, isa_, b.ffn_in, layer.down, b.delta.data(), 2 * hidden);
      const bool last = l + 1 == a.layers;
      worker.barrier(second_piece(worker, last ? weights_.head() : weights_.layers[static_cast<size_t>(l) + 1].q));
      add_to_stream(nullptr, nullptr, layer.post_ffn_norm);
    }
    if (wanted_rows == 0) return;  // the same for every thread

    share_rows();
    const Worker::Share wanted = alone ? Worker::Share{0, wanted_rows} : worker.share(wanted_rows);
    for (int64_t i = wanted.begin; i < wanted.end; ++i) {
      norm(residual + b.wanted_rows[i] * hidden, weights_.output_norm, own.wanted.data() + i * hidden);
    }
    own.head_in.quantize(isa_, wanted.begin, wanted.end);
    share_rows();
    head(worker, isa_, own.head_in, weights_.head(), weights_.head_bias, a.logit_soft_cap, b);
  });
  for (size_t i = 0; i < b.wanted_rows.size(); ++i) {
    Best all;
    for (size_t t = 0; t < static_cast<size_t>(pool_.size()); ++t) {
      const Best& one = b.best[t * b.wanted_rows.size() + i];
      all.bad |= one.bad;
      if (one.token >= 0) all.offer(one.value, one.token);
    }
    b.arg_max[i] = all.bad ? -1 : all.token;
  }
  return {{b.logits.data(), b.logits_count * static_cast<size_t>(a.vocab_size)}, b.arg_max, b.logits_rows, a.vocab_size};
}

}  // namespace outrider::model
