// The target's forward pass over a ragged batch: rows of any number of requests, each a token at a position, seeing its own request's
// committed positions and, for a node of a draft tree, its ancestors. Prefill, decoding and verification are this one pass, and a
// row's result does not depend on the rows beside it (row invariance), nor on the number of threads or the instruction set.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/cpu/attention.hpp"
#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/thread_pool.hpp"
#include "model/architecture.hpp"
#include "model/kv_cache.hpp"
#include "model/rope.hpp"

namespace outrider::model {

// What is asked of a row: nothing (its key and value are), the arg max of its logits, or the logits as well.
enum class Want : uint8_t { nothing, token, logits };

struct BatchRow {
  int32_t token;
  int32_t position;
  const KvSequence* sequence;  // rows of one sequence stand next to each other
  int32_t slot;                // where this row's key and value go
  int32_t prefix;              // it sees slots [0, prefix), then
  int32_t path_begin;          // the slots Batch::paths[path_begin, path_begin + path_length), the last of them its own;
  int32_t path_length;         // prefix + path_length = position + 1
  Want want;
};

struct Batch {
  std::vector<BatchRow> rows;
  std::vector<int32_t> paths;
  void clear() { rows.clear(), paths.clear(); }

  // Adds a row that sees all positions up to its own, each at the slot of its number (prompt, plain decoding, a chain's nodes).
  void add_contiguous(int32_t token, int32_t position, const KvSequence* sequence, Want want) {
    rows.push_back({token, position, sequence, position, position + 1, 0, 0, want});
  }
};

// What a pass gives, in the rows' order; valid until the next pass.
struct Output {
  std::span<const float> logits;         // [rows that want logits, vocab]
  std::span<const int32_t> arg_max;      // [rows that want a token or logits]; kernels::arg_max of each one's logits
  std::span<const int32_t> logits_rows;  // [as arg_max]: which row of `logits` is that row's; -1: it wants none
  int32_t vocab_size = 0;

  // Of the i-th row that wants anything; empty when it wants a token alone.
  [[nodiscard]] std::span<const float> logits_of(int32_t i) const {
    const int32_t row = logits_rows[static_cast<size_t>(i)];
    return row < 0 ? std::span<const float>() : logits.subspan(static_cast<size_t>(row) * vocab_size, vocab_size);
  }
};

class Transformer {
 public:
  // Reads architecture and weights; `repack_cache` as in load_weights. Errors name the file and what is wrong with it.
  static Result<std::unique_ptr<Transformer>> load(const formats::GgufFile& file, kernels::ThreadPool& pool, kernels::Isa isa,
                                                   const std::filesystem::path& repack_cache = {});

  // From parts, for tests with tiny models.
  Transformer(Architecture architecture, Weights weights, kernels::ThreadPool& pool, kernels::Isa isa);
  ~Transformer();

  // Runs the batch; writes its keys and values to the cache. One caller at a time. Nothing is allocated once the largest batch has been
  // seen.
  Output forward(const Batch& batch, KvCache& cache);

  [[nodiscard]] const Architecture& architecture() const { return architecture_; }
  [[nodiscard]] const Weights& weights() const { return weights_; }
  [[nodiscard]] kernels::Isa isa() const { return isa_; }
  [[nodiscard]] kernels::ThreadPool& pool() const { return pool_; }

  struct Buffers;  // of a pass; transformer.cpp's own

 private:
  Architecture architecture_;
  Weights weights_;
  kernels::ThreadPool& pool_;
  kernels::Isa isa_;
  RopeTable rope_table_, local_rope_table_;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace outrider::model
