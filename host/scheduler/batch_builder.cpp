#include "scheduler/batch_builder.hpp"

#include <algorithm>

namespace outrider::scheduler {
namespace {

// Logits are written out only where they are looked at.
model::Want want_of(const Sequence& sequence) {
  return sequence.law.needs_logits() || sequence.request->on_logits ? model::Want::logits : model::Want::token;
}

}  // namespace

bool is_chain(const verify::DraftTree& draft) {
  for (int32_t i = 0; i < draft.size(); ++i) {
    if (draft.parents[static_cast<size_t>(i)] != i - 1) return false;
  }
  return true;
}

void StepBatch::add_decode(Sequence& sequence) {
  slices.push_back({&sequence, 1 + sequence.draft.size(), outputs, true});
  outputs += 1 + sequence.draft.size();
  batch.add_contiguous(sequence.tokens.back(), sequence.cached, &sequence.kv, want_of(sequence));
  if (is_chain(sequence.draft)) {
    add_chain(sequence);
  } else {
    add_tree(sequence);
  }
}

void StepBatch::add_chain(Sequence& sequence) {
  for (int32_t i = 0; i < sequence.draft.size(); ++i) {
    batch.add_contiguous(sequence.draft.tokens[static_cast<size_t>(i)], sequence.cached + 1 + i, &sequence.kv, want_of(sequence));
  }
}

// Node i takes the slot after the root and the nodes before it; it sees the committed positions and the root, which are contiguous, and
// its ancestors' slots.
void StepBatch::add_tree(Sequence& sequence) {
  const verify::DraftTree& draft = sequence.draft;
  const int32_t first_slot = sequence.cached + 1;
  for (int32_t i = 0; i < draft.size(); ++i) {
    const auto path_begin = static_cast<int32_t>(batch.paths.size());
    for (int32_t node = i; node >= 0; node = draft.parents[static_cast<size_t>(node)]) batch.paths.push_back(first_slot + node);
    std::reverse(batch.paths.begin() + path_begin, batch.paths.end());
    const int32_t depth = static_cast<int32_t>(batch.paths.size()) - path_begin;
    batch.rows.push_back({draft.tokens[static_cast<size_t>(i)], sequence.cached + depth, &sequence.kv, first_slot + i, first_slot,
                          path_begin, depth, want_of(sequence)});
  }
}

void StepBatch::add_prefill(Sequence& sequence, int32_t chunk) {
  const int32_t rows = std::min(chunk, sequence.pending());
  const bool last = rows == sequence.pending();
  slices.push_back({&sequence, rows, outputs, last});
  for (int32_t i = 0; i < rows; ++i) {
    const int32_t position = sequence.cached + i;
    batch.add_contiguous(sequence.tokens[static_cast<size_t>(position)], position, &sequence.kv,
                         last && i + 1 == rows ? want_of(sequence) : model::Want::nothing);
  }
  outputs += last ? 1 : 0;
}

}  // namespace outrider::scheduler
