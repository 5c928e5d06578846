// What a GgufFile holds: the bytes, and where in them each metadata value and tensor lies. Private to the reader:
// gguf_parser.cpp fills it from untrusted bytes, gguf.cpp answers questions from it and relies on every check made there.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "formats/gguf.hpp"
#include "formats/gguf_types.hpp"
#include "formats/mapped_file.hpp"

namespace outrider::formats {

struct MetadataValue {
  std::string_view key;
  ValueType type;
  ValueType element_type;  // of an array; otherwise the same as type
  uint64_t count;          // elements of an array; otherwise 1
  uint64_t at;             // byte offset in the file of the value, or of the array's first element
};

struct GgufFile::Contents {
  MappedFile mapping;                // empty when the bytes are borrowed
  std::span<const std::byte> bytes;  // the whole file
  std::string name;
  uint32_t version = 0;
  std::vector<MetadataValue> metadata;
  std::unordered_map<std::string_view, size_t> metadata_index;  // key -> position in metadata
  std::vector<Tensor> tensors;
  std::unordered_map<std::string_view, size_t> tensor_index;

  [[nodiscard]] const MetadataValue* lookup(std::string_view key) const {
    const auto found = metadata_index.find(key);
    return found == metadata_index.end() ? nullptr : &metadata[found->second];
  }
};

}  // namespace outrider::formats
