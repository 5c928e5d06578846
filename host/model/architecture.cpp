#include "model/architecture.hpp"

#include <cmath>

namespace outrider::model {
namespace {

// One architecture's constants: what GGUF does not say in keys.
struct Family {
  std::string_view name;
  kernels::RopePairs rope_pairs;
  bool head_norms = false;
  bool post_norms = false;
  bool scaled_embedding = false;  // by the square root of the hidden size
  GateActivation gate_activation = GateActivation::silu;
  int32_t window_pattern = 0;     // one layer in so many is global, unless the file says otherwise; 0: all are
};
constexpr Family kFamilies[] = {
    {.name = "llama", .rope_pairs = kernels::RopePairs::interleaved},  // Q and K were permuted when the file was made
    {.name = "qwen2", .rope_pairs = kernels::RopePairs::halves},
    {.name = "qwen3", .rope_pairs = kernels::RopePairs::halves, .head_norms = true},
    {.name = "gemma3",  // a norm's weight w is stored as the factor 1 + w
     .rope_pairs = kernels::RopePairs::halves,
     .head_norms = true,
     .post_norms = true,
     .scaled_embedding = true,
     .gate_activation = GateActivation::gelu,
     .window_pattern = 6},
};

// Reads keys of the form ARCHITECTURE.name, with bounds that keep later arithmetic within int32.
class Keys {
 public:
  Keys(const formats::GgufFile& file, std::string prefix) : file_(file), prefix_(std::move(prefix)) {}

  [[nodiscard]] Result<int32_t> size(const std::string& name, int64_t greatest) const {
    const std::string key = prefix_ + name;
    int64_t value = 0;
    if (file_.is_array(key)) {
      OUTRIDER_TRY(const auto values, file_.integers(key));
      if (values.empty()) return fault(key, "an integer", "an empty array");
      for (const int64_t v : values) {
        if (v != values[0]) return fault(key, "the same value for every layer", "differing ones, which this host does not compute");
      }
      value = values[0];
    } else {
      OUTRIDER_TRY(value, file_.integer(key));
    }
    if (value < 1 || value > greatest) return fault(key, "a value from 1 to " + std::to_string(greatest), std::to_string(value));
    return static_cast<int32_t>(value);
  }
  [[nodiscard]] Result<int32_t> size_or(const std::string& name, int64_t greatest, int32_t fallback) const {
    if (!file_.has(prefix_ + name)) return fallback;
    return size(name, greatest);
  }
  [[nodiscard]] Result<double> positive_or(const std::string& name, double fallback) const {
    OUTRIDER_TRY(const double value, file_.value_or(prefix_ + name, fallback));
    if (!(value > 0) || !std::isfinite(value)) return fault(prefix_ + name, "a finite number above 0", std::to_string(value));
    return value;
  }
  // 0, for none, also when the file has no such key.
  [[nodiscard]] Result<float> soft_cap_or_none(const std::string& name) const {
    OUTRIDER_TRY(const double value, file_.value_or(prefix_ + name, 0.0));
    const bool sound = value == 0 || (value >= 1e-3 && value <= 1e6);
    if (!sound) return fault(prefix_ + name, "0 (none) or a number from 0.001 to 1000000", std::to_string(value));
    return static_cast<float>(value);
  }
  // Which layers are local: an array says it layer by layer, an integer n that every n-th is global.
  [[nodiscard]] Result<std::vector<bool>> local_layers(const std::string& name, int32_t layers, int32_t fallback) const {
    const std::string key = prefix_ + name;
    std::vector<bool> local;
    if (file_.is_array(key)) {
      OUTRIDER_TRY(const auto values, file_.integers(key));
      if (values.size() != static_cast<size_t>(layers)) {
        return fault(key, "a value for each of the " + std::to_string(layers) + " layers", std::to_string(values.size()));
      }
      for (const int64_t value : values) local.push_back(value != 0);
      return local;
    }
    OUTRIDER_TRY(const int32_t pattern, size_or(name, 1 << 20, fallback));
    for (int32_t l = 0; l < layers; ++l) local.push_back((l + 1) % pattern != 0);
    return local;
  }
  [[nodiscard]] Result<std::string> text_or(const std::string& name, std::string_view fallback) const {
    OUTRIDER_TRY(const auto value, file_.value_or<std::string_view>(prefix_ + name, fallback));
    return std::string(value);
  }
  [[nodiscard]] Error fault(const std::string& key, const std::string& expected, const std::string& found) const {
    return {file_.name() + ": metadata '" + key + "': expected " + expected + ", found " + found + "; use another GGUF file"};
  }

 private:
  const formats::GgufFile& file_;
  std::string prefix_;
};

Result<RopeScaling> read_rope_scaling(const Keys& keys, const formats::GgufFile& file, const Architecture& architecture) {
  RopeScaling scaling;
  OUTRIDER_TRY(const std::string type, keys.text_or("rope.scaling.type", "none"));
  if (type == "linear") {
    scaling.kind = RopeScaling::Kind::linear;
  } else if (type == "yarn") {
    scaling.kind = RopeScaling::Kind::yarn;
  } else if (type != "none") {
    return keys.fault(architecture.name + ".rope.scaling.type", "none, linear or yarn", "'" + type + "'");
  }
  OUTRIDER_TRY(const double factor, keys.positive_or("rope.scaling.factor", 1.0));
  scaling.factor = static_cast<float>(factor);
  if (scaling.kind == RopeScaling::Kind::yarn) {
    OUTRIDER_TRY(scaling.original_context_length,
                 keys.size_or("rope.scaling.original_context_length", 1 << 30, architecture.context_length));
    // arXiv 2309.00071, equation 22: attention is sharpened as the context is stretched.
    OUTRIDER_TRY(const double attention, keys.positive_or("rope.scaling.attn_factor", 1.0));
    scaling.attention_factor = static_cast<float>(attention * (factor > 1 ? 0.1 * std::log(factor) + 1.0 : 1.0));
    OUTRIDER_TRY(const double fast, keys.positive_or("rope.scaling.yarn_beta_fast", 32.0));
    OUTRIDER_TRY(const double slow, keys.positive_or("rope.scaling.yarn_beta_slow", 1.0));
    scaling.beta_fast = static_cast<float>(fast);
    scaling.beta_slow = static_cast<float>(slow);
  }
  if (file.find("rope_freqs.weight") != nullptr) {
    const int64_t shape[] = {architecture.rotary / 2};
    OUTRIDER_TRY(const auto* tensor, file.tensor("rope_freqs.weight", shape));
    if (tensor->type != kernels::TensorType::f32) return Error{file.name() + ": tensor 'rope_freqs.weight': expected F32; use another GGUF file"};
    const auto* values = reinterpret_cast<const float*>(tensor->data.data());  // aligned: tensor data starts at a multiple of 4
    scaling.divisors.assign(values, values + architecture.rotary / 2);
    for (const float divisor : scaling.divisors) {
      if (!(divisor > 0)) return Error{file.name() + ": tensor 'rope_freqs.weight': expected divisors above 0; use another GGUF file"};
    }
  }
  return scaling;
}

}  // namespace

Result<Architecture> read_architecture(const formats::GgufFile& file) {
  OUTRIDER_TRY(const std::string_view name, file.string("general.architecture"));
  const Family* family = nullptr;
  std::string known;
  for (const Family& candidate : kFamilies) {
    if (candidate.name == name) family = &candidate;
    known += (known.empty() ? "" : ", ") + std::string(candidate.name);
  }
  if (family == nullptr) {
    return Error{file.name() + ": general.architecture: expected one of " + known + ", found '" + std::string(name) +
                 "'; use a model of a supported architecture (outrider models lists some)"};
  }

  Architecture a{};
  a.name = name;
  a.rope_pairs = family->rope_pairs;
  a.head_norms = family->head_norms;
  a.post_norms = family->post_norms;
  a.gate_activation = family->gate_activation;
  const Keys keys(file, a.name + ".");
  constexpr int64_t kWidest = 1 << 20;
  OUTRIDER_TRY(a.context_length, keys.size("context_length", 1 << 30));
  OUTRIDER_TRY(a.hidden_size, keys.size("embedding_length", kWidest));
  OUTRIDER_TRY(a.ffn_size, keys.size("feed_forward_length", kWidest));
  OUTRIDER_TRY(a.layers, keys.size("block_count", 4096));
  OUTRIDER_TRY(a.heads, keys.size("attention.head_count", 4096));
  OUTRIDER_TRY(a.kv_heads, keys.size_or("attention.head_count_kv", 4096, a.heads));
  OUTRIDER_TRY(a.head_dim, keys.size_or("attention.key_length", kWidest, a.hidden_size / a.heads));
  OUTRIDER_TRY(const int32_t value_length, keys.size_or("attention.value_length", kWidest, a.head_dim));
  OUTRIDER_TRY(a.rotary, keys.size_or("rope.dimension_count", kWidest, a.head_dim));
  if (a.heads % a.kv_heads != 0) {
    return keys.fault(a.name + ".attention.head_count", "a multiple of head_count_kv = " + std::to_string(a.kv_heads), std::to_string(a.heads));
  }
  if (a.head_dim % 16 != 0 || a.head_dim > 256 || value_length != a.head_dim) {
    return keys.fault(a.name + ".attention.key_length", "a multiple of 16 up to 256, equal to value_length", std::to_string(a.head_dim));
  }
  if (a.rotary > a.head_dim || a.rotary % 2 != 0) {
    return keys.fault(a.name + ".rope.dimension_count", "an even number up to " + std::to_string(a.head_dim), std::to_string(a.rotary));
  }
  OUTRIDER_TRY(a.rope_base, keys.positive_or("rope.freq_base", 10000.0));
  OUTRIDER_TRY(const double epsilon, file.number(a.name + ".attention.layer_norm_rms_epsilon"));
  if (!(epsilon >= 0 && epsilon < 1)) return keys.fault(a.name + ".attention.layer_norm_rms_epsilon", "0 to 1", std::to_string(epsilon));
  a.norm_epsilon = static_cast<float>(epsilon);
  // Gemma 3 27B, the one with 62 layers, scales by the width that a head would have if the hidden size were shared out.
  const bool by_hidden_size = a.name == "gemma3" && a.layers == 62;
  const double scaled_width = by_hidden_size ? static_cast<double>(a.hidden_size) / a.heads : a.head_dim;
  OUTRIDER_TRY(const double scale, keys.positive_or("attention.scale", 1.0 / std::sqrt(scaled_width)));
  a.attention_scale = static_cast<float>(scale);
  OUTRIDER_TRY(a.attention_soft_cap, keys.soft_cap_or_none("attn_logit_softcapping"));
  OUTRIDER_TRY(a.logit_soft_cap, keys.soft_cap_or_none("final_logit_softcapping"));
  a.embedding_scale = family->scaled_embedding ? std::sqrt(static_cast<float>(a.hidden_size)) : 1.0F;
  if (family->window_pattern > 0) {
    OUTRIDER_TRY(a.window, keys.size("attention.sliding_window", 1 << 30));
    OUTRIDER_TRY(a.local, keys.local_layers("attention.sliding_window_pattern", a.layers, family->window_pattern));
    OUTRIDER_TRY(a.local_rope_base, keys.positive_or("rope.freq_base_swa", 10000.0));
  }
  OUTRIDER_TRY(a.rope_scaling, read_rope_scaling(keys, file, a));

  const auto* embedding = file.find("token_embd.weight");
  if (embedding == nullptr || embedding->shape.size() != 2 || embedding->shape[1] < 1 || embedding->shape[1] > (1 << 30)) {
    return Error{file.name() + ": tensor 'token_embd.weight': expected a matrix of hidden size x vocabulary; use another GGUF file"};
  }
  a.vocab_size = static_cast<int32_t>(embedding->shape[1]);
  return a;
}

size_t Weights::bytes_per_step() const {
  size_t bytes = head().bytes();
  for (const Layer& layer : layers) {
    for (const auto* matrix : {&layer.q, &layer.k, &layer.v, &layer.output, &layer.gate, &layer.up, &layer.down}) bytes += matrix->bytes();
  }
  return bytes;
}

}  // namespace outrider::model
