#include "support/tiny_model.hpp"

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "kernels/half.hpp"

namespace outrider::tests {
namespace {

class RandomWeights {
 public:
  RandomWeights(uint32_t seed, kernels::TensorType type) : random_(seed), type_(type) {}

  // GGUF rows of the wanted type with values of about 1 / sqrt(cols), so that activations keep their size.
  kernels::PackedMatrix matrix(int64_t rows, int64_t cols, float gain = 1.0F) {
    std::vector<std::byte> bytes;
    const float scale = gain / std::sqrt(static_cast<float>(cols));
    if (type_ == kernels::TensorType::f32) {
      bytes.resize(static_cast<size_t>(rows * cols) * 4);
      for (int64_t i = 0; i < rows * cols; ++i) {
        const float value = normal_(random_) * scale;
        std::memcpy(bytes.data() + i * 4, &value, 4);
      }
    } else if (type_ == kernels::TensorType::q8_0) {
      bytes.resize(static_cast<size_t>(rows * cols / 32) * 34);
      for (int64_t block = 0; block < rows * cols / 32; ++block) {
        const uint16_t d = kernels::f32_to_f16(scale * 3 / 127);
        std::memcpy(bytes.data() + block * 34, &d, 2);
        for (int i = 0; i < 32; ++i) {
          const float level = std::fmin(std::fmax(normal_(random_) * 127 / 3, -127.0F), 127.0F);
          bytes[static_cast<size_t>(block * 34 + 2 + i)] = static_cast<std::byte>(static_cast<int8_t>(level));
        }
      }
    } else {
      throw std::invalid_argument("tiny models are made of F32 or Q8_0");
    }
    return kernels::PackedMatrix::pack(type_, rows, cols, bytes);
  }

  std::vector<float> vector(int64_t n, float centre, float spread) {
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = centre + spread * normal_(random_);
    return values;
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<float> normal_;
  kernels::TensorType type_;
};

}  // namespace

model::Architecture tiny_architecture(const TinyModelOptions& options) {
  model::Architecture a{};
  a.name = options.family;
  a.vocab_size = options.vocab_size;
  a.context_length = options.context_length;
  a.hidden_size = 64;
  a.ffn_size = 96;
  a.layers = 2;
  a.heads = 4;
  a.kv_heads = 2;
  a.head_dim = 16;
  a.rotary = 16;
  a.rope_pairs = kernels::RopePairs::interleaved;
  a.rope_base = 10000;
  a.rope_scaling = options.rope_scaling;
  a.norm_epsilon = 1e-5F;
  a.attention_scale = 0.25F;
  if (options.family == "llama") return a;
  a.rope_pairs = kernels::RopePairs::halves;
  a.head_norms = true;
  if (options.family == "qwen3") return a;
  a.layers = 3;
  a.kv_heads = 1;
  a.head_dim = 32;
  a.rotary = 32;
  a.rope_base = 1000000;
  a.attention_soft_cap = 4;
  a.logit_soft_cap = 10;
  a.embedding_scale = 8;
  a.post_norms = true;
  a.gate_activation = model::GateActivation::gelu;
  a.local = {true, false, true};
  a.window = options.window;
  return a;
}

model::Weights tiny_weights(const model::Architecture& a, const TinyModelOptions& options) {
  RandomWeights random(options.seed, options.type);
  model::Weights w;
  w.embedding = random.matrix(a.vocab_size, a.hidden_size, 8.0F);
  w.head_storage = random.matrix(a.vocab_size, a.hidden_size, options.head_gain);
  w.output_norm = random.vector(a.hidden_size, 1, 0.1F);
  for (int32_t l = 0; l < a.layers; ++l) {
    model::Layer layer;
    layer.attention_norm = random.vector(a.hidden_size, 1, 0.1F);
    if (a.head_norms) layer.q_norm = random.vector(a.head_dim, 1, 0.1F), layer.k_norm = random.vector(a.head_dim, 1, 0.1F);
    if (a.post_norms)
      layer.post_attention_norm = random.vector(a.hidden_size, 1, 0.1F), layer.post_ffn_norm = random.vector(a.hidden_size, 1, 0.1F);
    layer.q = random.matrix(a.q_size(), a.hidden_size, 2.0F);
    layer.k = random.matrix(a.kv_size(), a.hidden_size, 2.0F);
    layer.v = random.matrix(a.kv_size(), a.hidden_size);
    layer.q_bias = random.vector(a.q_size(), 0, 0.1F);
    layer.k_bias = random.vector(a.kv_size(), 0, 0.1F);
    layer.v_bias = random.vector(a.kv_size(), 0, 0.1F);
    layer.output = random.matrix(a.hidden_size, a.q_size());
    layer.ffn_norm = random.vector(a.hidden_size, 1, 0.1F);
    layer.gate = random.matrix(a.ffn_size, a.hidden_size);
    layer.up = random.matrix(a.ffn_size, a.hidden_size);
    layer.down = random.matrix(a.hidden_size, a.ffn_size);
    w.layers.push_back(std::move(layer));
  }
  return w;
}

std::unique_ptr<model::Transformer> tiny_model(kernels::ThreadPool& pool, kernels::Isa isa, const TinyModelOptions& options) {
  const model::Architecture architecture = tiny_architecture(options);
  return std::make_unique<model::Transformer>(architecture, tiny_weights(architecture, options), pool, isa);
}

std::unique_ptr<text::Tokenizer> tiny_tokenizer(int32_t vocab_size) {
  text::TokenizerData data;
  data.model = "gpt2";
  data.pre = "gpt-2";
  for (int32_t id = 0; id + 1 < vocab_size; ++id) {
    data.tokens.emplace_back(1, static_cast<char>('!' + id));
    data.types.push_back(static_cast<int32_t>(text::TokenType::normal));
  }
  data.tokens.emplace_back("<end>");
  data.types.push_back(static_cast<int32_t>(text::TokenType::control));
  data.eos = vocab_size - 1;
  auto tokenizer = text::Tokenizer::create(std::move(data));
  if (!tokenizer.ok()) throw std::runtime_error(tokenizer.error().message);
  return *std::move(tokenizer);
}

}  // namespace outrider::tests
