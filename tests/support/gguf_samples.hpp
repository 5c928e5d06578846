// Small GGUF files that between them have every kind of metadata value, tensors of several types, both versions and other
// alignments: what the reader's tests start from and what the fuzzer is seeded with.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/gguf_writer.hpp"

namespace outrider::testing {

inline std::vector<std::byte> bytes_of(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

// One value of each metadata type, the arrays a tokenizer has, and two tensors.
inline GgufWriter sample_with_everything() {
  GgufWriter writer;
  writer.text("general.architecture", "llama");
  writer.value("a.u8", GgufWriter::u8, uint8_t{200});
  writer.value("a.i8", GgufWriter::i8, int8_t{-5});
  writer.value("a.u16", GgufWriter::u16, uint16_t{60000});
  writer.value("a.i16", GgufWriter::i16, int16_t{-300});
  writer.value("a.u32", GgufWriter::u32, uint32_t{4000000000});
  writer.value("a.i32", GgufWriter::i32, int32_t{-70000});
  writer.value("a.f32", GgufWriter::f32, 1.5F);
  writer.value("a.bool", GgufWriter::boolean, uint8_t{1});
  writer.value("a.u64", GgufWriter::u64, uint64_t{1} << 63);
  writer.value("a.i64", GgufWriter::i64, int64_t{-1} << 40);
  writer.value("a.f64", GgufWriter::f64, 0.1);
  writer.texts("tokenizer.ggml.tokens", {"a", "", "b c"});
  writer.values<float>("tokenizer.ggml.scores", GgufWriter::f32, {0.0F, -1.0F, -2.5F});
  writer.values<int32_t>("tokenizer.ggml.token_type", GgufWriter::i32, {1, 3, -6});
  writer.values<uint8_t>("a.bools", GgufWriter::boolean, {1, 0});
  writer.values<double>("a.f64s", GgufWriter::f64, {0.25, 4});
  writer.nested("a.nested", 2);
  writer.tensor("a.weight", 0, {4, 3}, bytes_of(48));       // F32
  writer.tensor("b.weight", 3, {64, 2}, bytes_of(80));      // Q4_1
  return writer;
}

inline GgufWriter sample_version_2() {
  GgufWriter writer;
  writer.version = 2;
  writer.text("general.architecture", "qwen2");
  writer.tensor("norm.weight", 1, {5}, bytes_of(10));       // F16
  return writer;
}

inline GgufWriter sample_alignment_64() {
  GgufWriter writer;
  writer.alignment = 64;
  writer.value("general.alignment", GgufWriter::u32, uint32_t{64});
  writer.tensor("a", 8, {32}, bytes_of(34));                // Q8_0
  writer.tensor("b", 14, {256, 1, 1, 1}, bytes_of(210));    // Q6_K
  writer.tensor("c", 27, {2}, bytes_of(16));                // I64, carried but not computed with
  return writer;
}

inline GgufWriter sample_without_tensors() {
  GgufWriter writer;
  writer.text("tokenizer.ggml.model", "gpt2");
  return writer;
}

inline std::vector<std::pair<std::string, GgufWriter>> all_gguf_samples() {
  return {{"everything", sample_with_everything()},
          {"version_2", sample_version_2()},
          {"alignment_64", sample_alignment_64()},
          {"without_tensors", sample_without_tensors()},
          {"empty", GgufWriter()}};
}

}  // namespace outrider::testing
