// From untrusted bytes to GgufFile::Contents, in the file's order: header, metadata, tensor infos, tensor data.
#include <algorithm>
#include <array>
#include <bit>

#include "formats/byte_cursor.hpp"
#include "formats/gguf_contents.hpp"

namespace outrider::formats {
namespace {

constexpr uint64_t kDefaultAlignment = 32;
constexpr uint64_t kLargestAlignment = uint64_t{1} << 31;
constexpr uint64_t kLongestKey = 65535;       // the format's own limit
constexpr uint64_t kLongestTensorName = 64;   // the format's own limit
constexpr uint32_t kMostDimensions = 4;
constexpr int kDeepestArray = 4;              // arrays of arrays are legal; unbounded depth would be a stack overflow by file
constexpr uint64_t kLeastMetadataBytes = 8 + 1 + 4 + 1;           // key length, key, type, value
constexpr uint64_t kLeastTensorInfoBytes = 8 + 1 + 4 + 8 + 4 + 8;  // name length, name, n_dims, one dim, type, offset

struct TensorInfo {
  GgufFile::Tensor tensor;
  uint64_t offset = 0;     // from the start of the data section
  uint64_t offset_at = 0;  // where in the file that offset is written
  uint64_t bytes = 0;      // 0: the type's layout is not known
};

std::string tensor_label(uint64_t index, std::string_view name) { return "tensor " + std::to_string(index) + " " + quoted(name); }

Result<void> check_magic(ByteCursor& cursor) {
  OUTRIDER_TRY(const auto magic, (cursor.read<std::array<char, 4>>("magic")));
  if (std::string_view(magic.data(), magic.size()) != "GGUF") {
    return cursor.malformed("magic", 0, "'GGUF'", quoted(std::string_view(magic.data(), magic.size())) + ", so this is not a GGUF file");
  }
  return {};
}

Result<uint32_t> read_version(ByteCursor& cursor) {
  const uint64_t at = cursor.at();
  OUTRIDER_TRY(const uint32_t version, cursor.read<uint32_t>("version"));
  if (version == 2 || version == 3) return version;
  std::string found = std::to_string(version);
  if (version == 1) found += " (the first layout, of 2023: convert the model again with a present-day converter)";
  if (version != 0 && (version & 0xffff) == 0) found += " (a big-endian file: convert it with gguf-convert-endian)";
  return cursor.malformed("version", at, "2 or 3", found);
}

Result<ValueType> read_value_type(ByteCursor& cursor, const std::string& field) {
  const uint64_t at = cursor.at();
  OUTRIDER_TRY(const uint32_t type, cursor.read<uint32_t>(field));
  if (type >= kValueTypes) return cursor.malformed(field, at, "a value type of 0 to 12", std::to_string(type));
  return static_cast<ValueType>(type);
}

Result<void> skip_array(ByteCursor& cursor, const std::string& label, int depth, MetadataValue* into);

// Moves past one value that is not an array, and checks it.
Result<void> skip_value(ByteCursor& cursor, const std::string& label, ValueType type) {
  if (type == ValueType::string) {
    OUTRIDER_CHECK(cursor.read_string(label));
    return {};
  }
  if (type == ValueType::boolean) {
    const uint64_t at = cursor.at();
    OUTRIDER_TRY(const uint8_t value, cursor.read<uint8_t>(label));
    if (value > 1) return cursor.malformed(label, at, "a bool of 0 or 1", std::to_string(value));
    return {};
  }
  return cursor.skip(label, size_of(type));
}

Result<void> skip_array(ByteCursor& cursor, const std::string& label, int depth, MetadataValue* into) {
  if (depth > kDeepestArray) {
    return cursor.malformed(label, cursor.at(), "arrays nested at most " + std::to_string(kDeepestArray) + " deep", "a deeper one");
  }
  OUTRIDER_TRY(const ValueType type, read_value_type(cursor, label + " element type"));
  uint64_t least_bytes = size_of(type);
  if (type == ValueType::string) least_bytes = 8;
  if (type == ValueType::array) least_bytes = 4 + 8;
  OUTRIDER_TRY(const uint64_t count, cursor.read_count<uint64_t>(label + " element count", least_bytes));
  if (into != nullptr) {
    into->element_type = type;
    into->count = count;
    into->at = cursor.at();
  }
  if (type != ValueType::string && type != ValueType::array && type != ValueType::boolean) {
    return cursor.skip(label, count * least_bytes);  // at most the remaining bytes, by read_count
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (type == ValueType::array) {
      OUTRIDER_CHECK(skip_array(cursor, label, depth + 1, nullptr));
    } else {
      OUTRIDER_CHECK(skip_value(cursor, label, type));
    }
  }
  return {};
}

Result<MetadataValue> read_metadata(ByteCursor& cursor, uint64_t index) {
  MetadataValue entry = {};
  const std::string number = "metadata " + std::to_string(index);
  const uint64_t key_at = cursor.at();
  OUTRIDER_TRY(entry.key, cursor.read_string(number + " key"));
  if (entry.key.empty() || entry.key.size() > kLongestKey) {
    return cursor.malformed(number + " key length", key_at, "1 to " + std::to_string(kLongestKey), std::to_string(entry.key.size()));
  }
  const std::string label = number + " " + quoted(entry.key);
  OUTRIDER_TRY(entry.type, read_value_type(cursor, label + " type"));
  entry.element_type = entry.type;
  entry.count = 1;
  entry.at = cursor.at();
  if (entry.type == ValueType::array) {
    OUTRIDER_CHECK(skip_array(cursor, label, 1, &entry));
  } else {
    OUTRIDER_CHECK(skip_value(cursor, label + " value", entry.type));
  }
  return entry;
}

// The bytes the tensor's data takes, from its type and shape; 0 for a type whose layout is not known.
Result<uint64_t> data_bytes(const ByteCursor& cursor, const std::string& label, const TensorInfo& info, uint64_t shape_at) {
  const auto type = tensor_type_info(info.tensor.gguf_type);
  if (type->block_elements == 0) return uint64_t{0};
  const auto row = static_cast<uint64_t>(info.tensor.shape[0]);
  if (row % type->block_elements != 0) {
    return cursor.malformed(label + " dimension 0", shape_at,
                            "a multiple of " + std::to_string(type->block_elements) + " for type " + std::string(type->name),
                            std::to_string(row));
  }
  uint64_t bytes = row / type->block_elements;
  bool overflows = __builtin_mul_overflow(bytes, uint64_t{type->block_bytes}, &bytes);
  for (size_t d = 1; d < info.tensor.shape.size(); ++d) {
    overflows |= __builtin_mul_overflow(bytes, static_cast<uint64_t>(info.tensor.shape[d]), &bytes);
  }
  if (overflows) return cursor.malformed(label + " dimensions", shape_at, "a tensor of less than 2^64 bytes", "more");
  return bytes;
}

Result<TensorInfo> read_tensor_info(ByteCursor& cursor, uint64_t index, uint64_t alignment) {
  TensorInfo info;
  const uint64_t name_at = cursor.at();
  const std::string number = "tensor " + std::to_string(index);
  OUTRIDER_TRY(info.tensor.name, cursor.read_string(number + " name"));
  if (info.tensor.name.empty() || info.tensor.name.size() > kLongestTensorName) {
    return cursor.malformed(number + " name length", name_at, "1 to " + std::to_string(kLongestTensorName),
                            std::to_string(info.tensor.name.size()));
  }
  const std::string label = tensor_label(index, info.tensor.name);

  const uint64_t count_at = cursor.at();
  OUTRIDER_TRY(const uint32_t dimensions, cursor.read<uint32_t>(label + " dimension count"));
  if (dimensions == 0 || dimensions > kMostDimensions) {
    return cursor.malformed(label + " dimension count", count_at, "1 to 4", std::to_string(dimensions));
  }
  const uint64_t shape_at = cursor.at();
  for (uint32_t d = 0; d < dimensions; ++d) {
    const std::string field = label + " dimension " + std::to_string(d);
    const uint64_t at = cursor.at();
    OUTRIDER_TRY(const auto extent, cursor.read<int64_t>(field));
    if (extent < 1) return cursor.malformed(field, at, "1 or more", std::to_string(extent));
    info.tensor.shape.push_back(extent);
  }

  const uint64_t type_at = cursor.at();
  OUTRIDER_TRY(info.tensor.gguf_type, cursor.read<uint32_t>(label + " type"));
  if (!tensor_type_info(info.tensor.gguf_type)) {
    return cursor.malformed(label + " type", type_at, "a tensor type of the GGUF format", std::to_string(info.tensor.gguf_type));
  }
  info.tensor.type = static_cast<kernels::TensorType>(info.tensor.gguf_type);
  OUTRIDER_TRY(info.bytes, data_bytes(cursor, label, info, shape_at));

  info.offset_at = cursor.at();
  OUTRIDER_TRY(info.offset, cursor.read<uint64_t>(label + " offset"));
  if (info.offset % alignment != 0) {
    return cursor.malformed(label + " offset", info.offset_at, "a multiple of the alignment " + std::to_string(alignment),
                            std::to_string(info.offset));
  }
  return info;
}

// Two tensors on the same bytes mean a damaged offset or shape: the model would run and answer nonsense.
Result<void> check_no_overlap(const ByteCursor& cursor, const std::vector<TensorInfo>& infos) {
  std::vector<size_t> order;
  for (size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].bytes > 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return infos[a].offset != infos[b].offset ? infos[a].offset < infos[b].offset : a < b;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const TensorInfo& before = infos[order[i - 1]];
    const TensorInfo& info = infos[order[i]];
    const uint64_t end = before.offset + before.bytes;  // both were checked against the data section
    if (info.offset < end) {
      return cursor.malformed(tensor_label(order[i], info.tensor.name) + " offset", info.offset_at,
                              std::to_string(end) + " or more, the end of " + tensor_label(order[i - 1], before.tensor.name),
                              std::to_string(info.offset));
    }
  }
  return {};
}

Result<uint64_t> read_alignment(const GgufFile& file, const ByteCursor& cursor, const MetadataValue* entry) {
  if (entry == nullptr) return kDefaultAlignment;
  OUTRIDER_TRY(const uint64_t alignment, file.unsigned_integer("general.alignment"));
  // The lower bound is the format's: a multiple of 8. It keeps every float aligned in memory.
  if (!std::has_single_bit(alignment) || alignment < 8 || alignment > kLargestAlignment) {
    return cursor.malformed("metadata 'general.alignment' value", entry->at, "a power of two from 8 to 2^31", std::to_string(alignment));
  }
  return alignment;
}

Result<void> refuse_split(const GgufFile& file) {
  OUTRIDER_TRY(const auto parts, file.value_or<uint64_t>("split.count", 1));
  if (parts <= 1) return {};
  return Error{file.name() + ": metadata 'split.count': expected a whole model in one file, found one of " + std::to_string(parts) +
               " parts; join them first (llama-gguf-split --merge)"};
}

}  // namespace

Result<GgufFile> GgufFile::parse(std::unique_ptr<Contents> contents) {
  GgufFile file(std::move(contents));
  Contents& into = *file.contents_;
  ByteCursor cursor(into.bytes, into.name);

  OUTRIDER_CHECK(check_magic(cursor));
  OUTRIDER_TRY(into.version, read_version(cursor));
  OUTRIDER_TRY(const uint64_t tensor_count, cursor.read_count<uint64_t>("tensor count", kLeastTensorInfoBytes));
  OUTRIDER_TRY(const uint64_t metadata_count, cursor.read_count<uint64_t>("metadata count", kLeastMetadataBytes));

  for (uint64_t i = 0; i < metadata_count; ++i) {
    const uint64_t at = cursor.at();
    OUTRIDER_TRY(const MetadataValue entry, read_metadata(cursor, i));
    if (!into.metadata_index.emplace(entry.key, into.metadata.size()).second) {
      return cursor.malformed("metadata " + std::to_string(i) + " key", at, "a key not seen before", quoted(entry.key) + " again");
    }
    into.metadata.push_back(entry);
  }
  OUTRIDER_CHECK(refuse_split(file));
  OUTRIDER_TRY(const uint64_t alignment, read_alignment(file, cursor, into.lookup("general.alignment")));

  std::vector<TensorInfo> infos;
  for (uint64_t i = 0; i < tensor_count; ++i) {
    const uint64_t at = cursor.at();
    OUTRIDER_TRY(TensorInfo info, read_tensor_info(cursor, i, alignment));
    if (!into.tensor_index.emplace(info.tensor.name, infos.size()).second) {
      return cursor.malformed("tensor " + std::to_string(i) + " name", at, "a name not seen before", quoted(info.tensor.name) + " again");
    }
    infos.push_back(std::move(info));
  }

  const uint64_t data_at = (cursor.at() + alignment - 1) / alignment * alignment;  // no overflow: at() is a size in memory
  const uint64_t data_bytes = data_at < into.bytes.size() ? into.bytes.size() - data_at : 0;
  for (uint64_t i = 0; i < infos.size(); ++i) {
    TensorInfo& info = infos[i];
    if (info.offset > data_bytes || info.bytes > data_bytes - info.offset) {
      return cursor.malformed(tensor_label(i, info.tensor.name) + " offset", info.offset_at,
                              std::to_string(info.bytes) + " bytes of data within the file's " + std::to_string(data_bytes),
                              "them at " + std::to_string(info.offset));
    }
    if (info.bytes > 0) info.tensor.data = into.bytes.subspan(data_at + info.offset, info.bytes);
  }
  OUTRIDER_CHECK(check_no_overlap(cursor, infos));
  for (TensorInfo& info : infos) into.tensors.push_back(std::move(info.tensor));
  return file;
}

}  // namespace outrider::formats
