// From a GGUF file's tensors to repacked weights, or from those that an earlier start has kept.
#include <optional>

#include "base/log.hpp"
#include "kernels/cpu/dequantize.hpp"
#include "model/architecture.hpp"
#include "model/repack_cache.hpp"

namespace outrider::model {
namespace {

class Loader {
 public:
  Loader(const formats::GgufFile& file, kernels::ThreadPool& pool, std::optional<RepackCache> cache)
      : file_(file), pool_(pool), cache_(std::move(cache)) {}

  // A linear layer's weight, (rows, cols).
  Result<kernels::PackedMatrix> matrix(const std::string& name, int64_t rows, int64_t cols) {
    const int64_t shape[] = {cols, rows};
    OUTRIDER_TRY(const auto* tensor, file_.tensor(name, shape));
    if (cache_) {
      if (auto kept = cache_->take(name, tensor->type, rows, cols)) return *std::move(kept);
    }
    auto packed = kernels::PackedMatrix::pack(tensor->type, rows, cols, tensor->data, &pool_);
    file_.release(*tensor);
    return packed;
  }

  // A norm's weight or a bias, (n), as floats.
  Result<std::vector<float>> vector(const std::string& name, int64_t n) const {
    const int64_t shape[] = {n};
    OUTRIDER_TRY(const auto* tensor, file_.tensor(name, shape));
    std::vector<float> values(static_cast<size_t>(n));
    kernels::dequantize_row(tensor->type, tensor->data.data(), n, values.data());
    return values;
  }

  // The same, or empty when the file has none.
  Result<std::vector<float>> vector_if_any(const std::string& name, int64_t n) const {
    if (file_.find(name) == nullptr) return std::vector<float>{};
    return vector(name, n);
  }

 private:
  const formats::GgufFile& file_;
  kernels::ThreadPool& pool_;
  std::optional<RepackCache> cache_;
};

// The matrices under their tensors' names.
std::vector<RepackedTensor> named_matrices(const Weights& weights) {
  std::vector<RepackedTensor> all{{"token_embd.weight", &weights.embedding}};
  if (weights.head_storage.rows() > 0) all.push_back({"output.weight", &weights.head_storage});
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    const Layer& layer = weights.layers[i];
    const std::string block = "blk." + std::to_string(i) + ".";
    all.push_back({block + "attn_q.weight", &layer.q});
    all.push_back({block + "attn_k.weight", &layer.k});
    all.push_back({block + "attn_v.weight", &layer.v});
    all.push_back({block + "attn_output.weight", &layer.output});
    all.push_back({block + "ffn_gate.weight", &layer.gate});
    all.push_back({block + "ffn_up.weight", &layer.up});
    all.push_back({block + "ffn_down.weight", &layer.down});
  }
  return all;
}

Result<Weights> read_weights(const formats::GgufFile& file, const Architecture& a, Loader load) {
  Weights weights;
  OUTRIDER_TRY(weights.embedding, load.matrix("token_embd.weight", a.vocab_size, a.hidden_size));
  OUTRIDER_TRY(weights.output_norm, load.vector("output_norm.weight", a.hidden_size));
  if (file.find("output.weight") != nullptr) {
    OUTRIDER_TRY(weights.head_storage, load.matrix("output.weight", a.vocab_size, a.hidden_size));
  }
  OUTRIDER_TRY(weights.head_bias, load.vector_if_any("output.bias", a.vocab_size));
  weights.layers.resize(static_cast<size_t>(a.layers));
  for (int32_t i = 0; i < a.layers; ++i) {
    Layer& layer = weights.layers[static_cast<size_t>(i)];
    const std::string block = "blk." + std::to_string(i) + ".";
    OUTRIDER_TRY(layer.attention_norm, load.vector(block + "attn_norm.weight", a.hidden_size));
    OUTRIDER_TRY(layer.q, load.matrix(block + "attn_q.weight", a.q_size(), a.hidden_size));
    OUTRIDER_TRY(layer.k, load.matrix(block + "attn_k.weight", a.kv_size(), a.hidden_size));
    OUTRIDER_TRY(layer.v, load.matrix(block + "attn_v.weight", a.kv_size(), a.hidden_size));
    if (a.head_norms) {
      OUTRIDER_TRY(layer.q_norm, load.vector(block + "attn_q_norm.weight", a.head_dim));
      OUTRIDER_TRY(layer.k_norm, load.vector(block + "attn_k_norm.weight", a.head_dim));
    }
    OUTRIDER_TRY(layer.q_bias, load.vector_if_any(block + "attn_q.bias", a.q_size()));
    OUTRIDER_TRY(layer.k_bias, load.vector_if_any(block + "attn_k.bias", a.kv_size()));
    OUTRIDER_TRY(layer.v_bias, load.vector_if_any(block + "attn_v.bias", a.kv_size()));
    OUTRIDER_TRY(layer.output, load.matrix(block + "attn_output.weight", a.hidden_size, a.q_size()));
    OUTRIDER_TRY(layer.output_bias, load.vector_if_any(block + "attn_output.bias", a.hidden_size));
    if (a.post_norms) {
      OUTRIDER_TRY(layer.post_attention_norm, load.vector(block + "post_attention_norm.weight", a.hidden_size));
      OUTRIDER_TRY(layer.post_ffn_norm, load.vector(block + "post_ffw_norm.weight", a.hidden_size));
    }
    OUTRIDER_TRY(layer.ffn_norm, load.vector(block + "ffn_norm.weight", a.hidden_size));
    OUTRIDER_TRY(layer.gate, load.matrix(block + "ffn_gate.weight", a.ffn_size, a.hidden_size));
    OUTRIDER_TRY(layer.up, load.matrix(block + "ffn_up.weight", a.ffn_size, a.hidden_size));
    OUTRIDER_TRY(layer.down, load.matrix(block + "ffn_down.weight", a.hidden_size, a.ffn_size));
  }
  return weights;
}

}  // namespace

Result<Weights> load_weights(const formats::GgufFile& file, const Architecture& a, kernels::ThreadPool& pool,
                             const std::filesystem::path& repack_cache) {
  if (repack_cache.empty()) return read_weights(file, a, Loader(file, pool, std::nullopt));
  const uint64_t key = repack_key(file);
  std::error_code unknown;
  if (std::filesystem::exists(repack_cache, unknown)) {
    auto cache = RepackCache::open(repack_cache, key, pool);
    if (cache.ok()) {
      log::debug("weights: mapped from {}", repack_cache.string());
      return read_weights(file, a, Loader(file, pool, *std::move(cache)));
    }
    log::warn("{}; the weights are repacked, and the file is made anew", cache.error().message);
  }
  auto weights = read_weights(file, a, Loader(file, pool, std::nullopt));
  if (!weights.ok()) return weights;
  const auto written = write_repack_cache(repack_cache, key, named_matrices(*weights), pool);
  if (!written.ok()) log::warn("{}", written.error().message);
  return weights;
}

}  // namespace outrider::model
