// Lays one step's rows out for the target: a decoding sequence's root and draft nodes, a prompt's next chunk.
#pragma once

#include <vector>

#include "model/transformer.hpp"
#include "scheduler/sequence.hpp"

namespace outrider::scheduler {

// Where one sequence's rows lie in the batch.
struct Slice {
  Sequence* sequence;
  int32_t rows;          // root and nodes, or prompt rows
  int32_t first_output;  // which of the pass's outputs is its first; the root's for a decoding sequence
  bool yields;           // whether a token comes of it: not so for a prompt's earlier chunks
};

struct StepBatch {
  model::Batch batch;
  std::vector<Slice> slices;
  int32_t outputs = 0;  // rows that want a token or logits

  void clear() { batch.clear(), slices.clear(), outputs = 0; }
  void add_decode(Sequence& sequence);                  // the root, then sequence.draft, depth by position
  void add_prefill(Sequence& sequence, int32_t chunk);  // up to `chunk` of the pending rows; the last one yields a token

 private:
  void add_chain(Sequence& sequence);
  void add_tree(Sequence& sequence);
};

// Whether every node's parent is the node before it.
bool is_chain(const verify::DraftTree& draft);

}  // namespace outrider::scheduler
