// Reads everything that a parsed GGUF file offers, as every kind of value, so that a sanitizer sees each access the file leads to.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/gguf.hpp"

namespace outrider::testing {

// The sum of all bytes of all tensors and the sizes of all values, so that no read can be left out.
inline uint64_t walk(const formats::GgufFile& file) {
  uint64_t sum = file.version() + file.file_bytes();
  for (const std::string_view key : file.keys()) {
    sum += file.has(key) + file.is_array(key);
    if (auto value = file.string(key)) {
      for (const char c : *value) sum += static_cast<unsigned char>(c);
    }
    if (auto values = file.strings(key)) {
      for (const std::string_view value : *values) {
        for (const char c : value) sum += static_cast<unsigned char>(c);
      }
    }
    if (auto value = file.unsigned_integer(key)) sum += *value;
    if (auto value = file.integer(key)) sum += static_cast<uint64_t>(*value);
    if (auto value = file.number(key)) sum += *value > 0;
    if (auto value = file.boolean(key)) sum += *value;
    if (auto value = file.integers(key)) sum += value->size();
    if (auto value = file.floats(key)) sum += value->size();
  }
  for (const formats::GgufFile::Tensor& tensor : file.tensors()) {
    sum += file.find(tensor.name) == &tensor;
    sum += file.tensor(tensor.name, tensor.shape).ok();
    for (const std::byte byte : tensor.data) sum += static_cast<uint8_t>(byte);
    file.release(tensor);
  }
  return sum;
}

}  // namespace outrider::testing
