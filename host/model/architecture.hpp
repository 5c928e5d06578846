// The data model of a decoder-only transformer: its hyperparameters and its weights, each with its shape. Shapes are written
// (rows, cols) = (output features, input features). What differs between architectures is data here, so that the forward pass
// (transformer.hpp) is one list of verbs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "formats/gguf.hpp"
#include "kernels/cpu/math.hpp"
#include "kernels/cpu/matmul.hpp"

namespace outrider::model {

struct RopeScaling {
  enum class Kind { none, linear, yarn } kind = Kind::none;
  float factor = 1.0F;
  float attention_factor = 1.0F;          // YaRN: multiplies cos and sin
  int32_t original_context_length = 0;    // YaRN: the length the model was trained at
  float beta_fast = 32.0F, beta_slow = 1.0F;
  std::vector<float> divisors;            // (rotary / 2), each frequency's divisor (Llama 3); empty when none
};

enum class GateActivation { silu, gelu };  // gelu: the tanh form

struct Architecture {
  std::string name;         // general.architecture: "llama", "qwen2", "qwen3", "gemma3"
  int32_t vocab_size;       // rows of the embedding
  int32_t context_length;   // positions the model was trained for
  int32_t hidden_size;
  int32_t ffn_size;
  int32_t layers;
  int32_t heads;            // query heads
  int32_t kv_heads;         // heads is a multiple of it
  int32_t head_dim;
  int32_t rotary;           // features of a head that RoPE rotates
  kernels::RopePairs rope_pairs;
  double rope_base;
  RopeScaling rope_scaling;
  float norm_epsilon;
  float attention_scale;    // multiplies q . k

  // What some architectures have beyond that. The defaults are those of one without.
  float attention_soft_cap = 0;     // of the scores: cap * tanh(score / cap); 0: none
  float logit_soft_cap = 0;         // likewise of the logits
  float embedding_scale = 1;        // multiplies the embedding where it enters the stream
  bool head_norms = false;          // each head of Q and of K is normed before RoPE
  bool post_norms = false;          // what attention and the feed-forward block give is normed before it joins the stream
  GateActivation gate_activation = GateActivation::silu;
  std::vector<bool> local;          // (layers), which layers see a window of positions only; empty: none
  int32_t window = 0;               // a local layer's query at position p sees (p - window, p]
  double local_rope_base = 10000;   // local layers turn by this base, unscaled

  [[nodiscard]] bool is_local(int32_t layer) const { return !local.empty() && local[static_cast<size_t>(layer)]; }
  [[nodiscard]] int32_t q_size() const { return heads * head_dim; }
  [[nodiscard]] int32_t kv_size() const { return kv_heads * head_dim; }
};

struct Layer {
  std::vector<float> attention_norm;   // (hidden)
  kernels::PackedMatrix q;             // (q_size, hidden)
  kernels::PackedMatrix k, v;          // (kv_size, hidden)
  std::vector<float> q_norm, k_norm;   // (head_dim) or empty, the same for every head
  std::vector<float> q_bias;           // (q_size) or empty
  std::vector<float> k_bias, v_bias;   // (kv_size) or empty
  kernels::PackedMatrix output;        // (hidden, q_size)
  std::vector<float> output_bias;      // (hidden) or empty
  std::vector<float> post_attention_norm;  // (hidden) or empty
  std::vector<float> ffn_norm;         // (hidden)
  kernels::PackedMatrix gate, up;      // (ffn, hidden)
  kernels::PackedMatrix down;          // (hidden, ffn)
  std::vector<float> post_ffn_norm;    // (hidden) or empty
};

struct Weights {
  kernels::PackedMatrix embedding;     // (vocab, hidden)
  std::vector<Layer> layers;
  std::vector<float> output_norm;      // (hidden)
  kernels::PackedMatrix head_storage;  // (vocab, hidden); empty when the head is tied to the embedding
  std::vector<float> head_bias;        // (vocab) or empty

  [[nodiscard]] const kernels::PackedMatrix& head() const { return head_storage.rows() > 0 ? head_storage : embedding; }
  // Bytes a decode step reads: every repacked matrix once, the embedding only where it is the head.
  [[nodiscard]] size_t bytes_per_step() const;
};

// Reads the hyperparameters; an architecture or a setting this host does not compute is refused by name.
Result<Architecture> read_architecture(const formats::GgufFile& file);

// Repacks the weights, checking each name, type and shape, and gives the file's pages back as it goes. With a `repack_cache` (the path of a
// file, repack_cache.hpp) they are mapped from there when it is this model's and whole; else it is written. What is wrong with it goes to
// the log, never into the result.
Result<Weights> load_weights(const formats::GgufFile& file, const Architecture& architecture, kernels::ThreadPool& pool,
                             const std::filesystem::path& repack_cache = {});

}  // namespace outrider::model
