#include "scheduler/batch_builder.hpp"

#include <algorithm>

namespace outrider::scheduler {

bool is_chain(const verify::DraftTree& draft) {
  for (int32_t i = 0; i < draft.size(); ++i) {
    if (draft.parents[static_cast<size_t>(i)] != i - 1) return false;
  }
  return true;
}

void StepBatch::add_decode(Sequence& sequence) {
  slices.push_back({&sequence, 1 + sequence.draft.size(), logits_rows, true});
  logits_rows += 1 + sequence.draft.size();
  batch.add_contiguous(sequence.tokens.back(), sequence.cached, &sequence.kv, true);
  if (is_chain(sequence.draft)) {
    add_chain(sequence);
  } else {
    add_tree(sequence);
  }
}

void StepBatch::add_chain(Sequence& sequence) {
  for (int32_t i = 0; i < sequence.draft.size(); ++i) {
    batch.add_contiguous(sequence.draft.tokens[static_cast<size_t>(i)], sequence.cached + 1 + i, &sequence.kv, true);
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
    batch.rows.push_back({draft.tokens[static_cast<size_t>(i)], sequence.cached + depth, &sequence.kv, first_slot + i, first_slot, path_begin, depth, true});
  }
}

void StepBatch::add_prefill(Sequence& sequence, int32_t chunk) {
  const int32_t rows = std::min(chunk, sequence.pending());
  const bool last = rows == sequence.pending();
  slices.push_back({&sequence, rows, logits_rows, last});
  for (int32_t i = 0; i < rows; ++i) {
    const int32_t position = sequence.cached + i;
    batch.add_contiguous(sequence.tokens[static_cast<size_t>(position)], position, &sequence.kv, last && i + 1 == rows);
  }
  logits_rows += last ? 1 : 0;
}

}  // namespace outrider::scheduler
