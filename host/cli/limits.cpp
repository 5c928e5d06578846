#include "cli/limits.hpp"

#include <algorithm>

namespace outrider::cli {

PassWork PassWork::of(const model::Transformer& target, kernels::KvType kv_type, int32_t rows, int32_t context, int32_t logits) {
  const model::Architecture& a = target.architecture();
  const model::Weights& weights = target.weights();
  PassWork work;
  const auto multiply = [&](const kernels::PackedMatrix& matrix, int32_t times) {
    if (times == 0) return;
    const double products = static_cast<double>(matrix.rows()) * static_cast<double>(matrix.cols()) * times;
    (kernels::is_float_type(matrix.type()) ? work.f32_multiply_adds : work.int8_multiply_adds) += products;
    work.bytes += static_cast<double>(matrix.bytes());
  };
  for (const model::Layer& layer : weights.layers) {
    for (const auto* matrix : {&layer.q, &layer.k, &layer.v, &layer.output, &layer.gate, &layer.up, &layer.down}) multiply(*matrix, rows);
  }
  multiply(weights.head(), logits);

  const kernels::KvLayer kv{nullptr, kv_type, a.kv_heads, a.head_dim};
  const double position_bytes = static_cast<double>(kv.page_bytes()) / kernels::kPagePositions;
  work.bytes += a.layers * position_bytes * (context + rows);
  const double seen = static_cast<double>(rows) * context + 0.5 * rows * (rows + 1.0);  // positions, summed over the rows
  work.f32_multiply_adds += 2.0 * a.layers * a.q_size() * seen;
  return work;
}

double least_seconds(const PassWork& work, const Peaks& peaks) {
  const double memory = work.bytes / peaks.read_bytes;
  const double arithmetic = work.int8_multiply_adds / peaks.int8_multiply_adds + work.f32_multiply_adds / peaks.f32_multiply_adds;
  return std::max(memory, arithmetic);
}

}  // namespace outrider::cli
