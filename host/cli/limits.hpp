// The least time a pass of the model can take on a machine of known peaks (its roofline): every weight, key and value is read from memory
// once, and every multiply-add done at the peak rate; the longer of the two counts. What it leaves out (the second terms of attention's
// layers, norms, scales, softmax, barriers, sampling) takes time as well, so no pass reaches it; one whose weights stay in a cache can.
#pragma once

#include <cstdint>

#include "model/transformer.hpp"

namespace outrider::cli {

// A second of this machine with all threads.
struct Peaks {
  double read_bytes = 0;  // from memory
  double int8_multiply_adds = 0;
  double f32_multiply_adds = 0;
};

// What one pass has to do.
struct PassWork {
  double bytes = 0;               // weights as they lie in memory, and the keys and values that its rows see
  double int8_multiply_adds = 0;  // quantised weights
  double f32_multiply_adds = 0;   // float weights, and attention

  // A pass of `rows` neighbouring rows of one sequence after `context` positions, with logits for `logits` of them. A matrix makes
  // rows * features in * features out multiply-adds (the head: logits instead of rows), attention 2 * query features for each layer, row
  // and position that the row sees.
  static PassWork of(const model::Transformer& target, kernels::KvType kv_type, int32_t rows, int32_t context, int32_t logits);
};

// Seconds at the least: max(bytes / read rate, int8 multiply-adds / int8 rate + f32 multiply-adds / f32 rate).
double least_seconds(const PassWork& work, const Peaks& peaks);

}  // namespace outrider::cli
