// A transformer small enough to run a hundred thousand times in a test: random weights from a fixed seed, two layers, grouped queries,
// quantised linear layers, and a vocabulary of single letters.
#pragma once

#include <memory>
#include <random>
#include <string>

#include "model/transformer.hpp"
#include "text/tokenizer.hpp"

namespace outrider::tests {

struct TinyModelOptions {
  std::string family = "llama";  // or "qwen3" (norms of heads), "gemma3" (all that an architecture may have beyond llama's, soft caps too)
  int32_t vocab_size = 48;
  int32_t context_length = 512;
  uint32_t seed = 1;
  kernels::TensorType type = kernels::TensorType::q8_0;
  float head_gain = 4.0F;  // the greater, the surer the model is of its next token
  model::RopeScaling rope_scaling = {};
  int32_t window = 5;            // gemma3: of the first and the last of its three layers
};

model::Architecture tiny_architecture(const TinyModelOptions& options);
model::Weights tiny_weights(const model::Architecture& architecture, const TinyModelOptions& options);
std::unique_ptr<model::Transformer> tiny_model(kernels::ThreadPool& pool, kernels::Isa isa, const TinyModelOptions& options = {});

// Ids 0 … n-2 are the letters from '!' on, the last one is the control token "<end>".
std::unique_ptr<text::Tokenizer> tiny_tokenizer(int32_t vocab_size = 48);

}  // namespace outrider::tests
