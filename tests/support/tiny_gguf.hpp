// A whole model file of a few kilobytes that the host loads as it loads any other: one layer of architecture llama in F32, and a
// vocabulary of bytes. Its text is nonsense.
#pragma once

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "support/gguf_writer.hpp"

namespace outrider::testing {

inline void write_tiny_gguf(const std::filesystem::path& path, uint32_t context_length = 256) {
  constexpr int64_t hidden = 32, ffn = 64, vocabulary = 96;
  GgufWriter writer;
  writer.text("general.architecture", "llama");
  for (const auto& [key, number] : std::vector<std::pair<std::string, uint32_t>>{{"context_length", context_length},
                                                                                 {"embedding_length", hidden},
                                                                                 {"feed_forward_length", ffn},
                                                                                 {"block_count", 1},
                                                                                 {"attention.head_count", 2},
                                                                                 {"attention.head_count_kv", 1}}) {
    writer.value("llama." + key, GgufWriter::u32, number);
  }
  writer.value("llama.attention.layer_norm_rms_epsilon", GgufWriter::f32, 1e-5F);

  std::vector<std::string> tokens;
  for (char letter = '!'; tokens.size() + 1 < static_cast<size_t>(vocabulary) && letter < 127; ++letter) tokens.emplace_back(1, letter);
  while (tokens.size() + 1 < static_cast<size_t>(vocabulary)) tokens.push_back("!" + std::to_string(tokens.size()));
  tokens.emplace_back("<end>");
  std::vector<int32_t> types(tokens.size(), 1);
  types.back() = 3;
  writer.text("tokenizer.ggml.model", "gpt2");
  writer.text("tokenizer.ggml.pre", "gpt-2");
  writer.texts("tokenizer.ggml.tokens", tokens);
  writer.values<int32_t>("tokenizer.ggml.token_type", GgufWriter::i32, types);
  writer.texts("tokenizer.ggml.merges", {});
  writer.value("tokenizer.ggml.eos_token_id", GgufWriter::u32, static_cast<uint32_t>(tokens.size() - 1));

  std::mt19937 random(1);
  const auto tensor = [&](const std::string& name, std::vector<int64_t> shape) {
    int64_t count = 1;
    for (const int64_t n : shape) count *= n;
    const float gain = 1.0F / std::sqrt(static_cast<float>(shape[0]));
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = shape.size() == 1 ? 1.0F : gain * (static_cast<float>(random() % 2001) / 1000.0F - 1.0F);
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    writer.tensor(name, 0, shape, bytes);
  };
  tensor("token_embd.weight", {hidden, vocabulary});
  tensor("output_norm.weight", {hidden});
  tensor("blk.0.attn_norm.weight", {hidden});
  tensor("blk.0.attn_q.weight", {hidden, hidden});
  tensor("blk.0.attn_k.weight", {hidden, hidden / 2});
  tensor("blk.0.attn_v.weight", {hidden, hidden / 2});
  tensor("blk.0.attn_output.weight", {hidden, hidden});
  tensor("blk.0.ffn_norm.weight", {hidden});
  tensor("blk.0.ffn_gate.weight", {hidden, ffn});
  tensor("blk.0.ffn_up.weight", {hidden, ffn});
  tensor("blk.0.ffn_down.weight", {ffn, hidden});
  const std::vector<std::byte> file = writer.build();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
}

}  // namespace outrider::testing
