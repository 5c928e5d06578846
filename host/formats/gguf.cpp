// Answers from a parsed GGUF file. The parser has checked every length and offset used here.
#include "formats/gguf.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "formats/byte_cursor.hpp"
#include "formats/gguf_contents.hpp"

namespace outrider::formats {
namespace {

Error wrong_type(const std::string& file, const MetadataValue& entry, std::string_view expected) {
  std::string found(name_of(entry.type));
  if (entry.type == ValueType::array) found += " of " + std::string(name_of(entry.element_type));
  return Error{file + ": metadata " + quoted(entry.key) + " at byte " + std::to_string(entry.at) + ": expected " +
               std::string(expected) + ", found " + found + "; the file was made for another program: convert the model again"};
}

Error missing(const std::string& file, std::string_view kind, std::string_view name) {
  return Error{file + ": " + std::string(kind) + " " + quoted(name) + ": expected in the file, found nothing of that name; the file " +
               "was made for another program: convert the model again"};
}

template <class T>
T load(std::span<const std::byte> bytes, uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

// A value of any integer type (or bool, 0 or 1), with its sign kept apart, since u64 and i64 share no wider type.
struct AnyInteger {
  bool negative;
  uint64_t bits;  // two's complement
};

template <class T>
AnyInteger load_integer_as(std::span<const std::byte> bytes, uint64_t at) {
  const T value = load<T>(bytes, at);
  return {value < T{0}, static_cast<uint64_t>(value)};
}

AnyInteger load_integer(std::span<const std::byte> bytes, ValueType type, uint64_t at) {
  switch (type) {
    case ValueType::i8: return load_integer_as<int8_t>(bytes, at);
    case ValueType::u16: return load_integer_as<uint16_t>(bytes, at);
    case ValueType::i16: return load_integer_as<int16_t>(bytes, at);
    case ValueType::u32: return load_integer_as<uint32_t>(bytes, at);
    case ValueType::i32: return load_integer_as<int32_t>(bytes, at);
    case ValueType::u64: return load_integer_as<uint64_t>(bytes, at);
    case ValueType::i64: return load_integer_as<int64_t>(bytes, at);
    default: return load_integer_as<uint8_t>(bytes, at);  // u8 and bool
  }
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "{";
  for (const int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "}";
}

std::string computable_types() {
  std::string names;
  for (uint32_t type = 0; type < 64; ++type) {
    if (const auto traits = kernels::type_traits(type)) names += (names.empty() ? "" : ", ") + std::string(traits->name);
  }
  return names;
}

}  // namespace

GgufFile::GgufFile(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
GgufFile::GgufFile(GgufFile&&) noexcept = default;
GgufFile& GgufFile::operator=(GgufFile&&) noexcept = default;
GgufFile::~GgufFile() = default;

Result<GgufFile> GgufFile::open(const std::filesystem::path& path) {
  auto contents = std::make_unique<Contents>();
  OUTRIDER_TRY(contents->mapping, MappedFile::open(path));
  contents->bytes = contents->mapping.bytes();
  contents->name = path.string();
  return parse(std::move(contents));
}

Result<GgufFile> GgufFile::from_bytes(std::span<const std::byte> bytes, std::string name) {
  auto contents = std::make_unique<Contents>();
  contents->bytes = bytes;
  contents->name = std::move(name);
  return parse(std::move(contents));
}

bool GgufFile::has(std::string_view key) const { return contents_->lookup(key) != nullptr; }

bool GgufFile::is_array(std::string_view key) const {
  const MetadataValue* entry = contents_->lookup(key);
  return entry != nullptr && entry->type == ValueType::array;
}

Result<std::string_view> GgufFile::string(std::string_view key) const {
  const MetadataValue* entry = contents_->lookup(key);
  if (entry == nullptr) return missing(name(), "metadata", key);
  if (entry->type != ValueType::string) return wrong_type(name(), *entry, "a string");
  ByteCursor cursor(contents_->bytes.subspan(entry->at), name());
  return cursor.read_string(key);
}

Result<uint64_t> GgufFile::unsigned_integer(std::string_view key) const {
  const MetadataValue* entry = contents_->lookup(key);
  if (entry == nullptr) return missing(name(), "metadata", key);
  if (!is_integer(entry->type)) return wrong_type(name(), *entry, "an integer");
  const AnyInteger value = load_integer(contents_->bytes, entry->type, entry->at);
  if (value.negative) {
    return Error{name() + ": metadata " + quoted(key) + " at byte " + std::to_string(entry->at) + ": expected 0 or more, found " +
                 std::to_string(static_cast<int64_t>(value.bits)) + "; the file is damaged: fetch it again or convert it again"};
  }
  return value.bits;
}

Result<int64_t> GgufFile::integer(std::string_view key) const {
  const MetadataValue* entry = contents_->lookup(key);
  if (entry == nullptr) return missing(name(), "metadata", key);
  if (!is_integer(entry->type)) return wrong_type(name(), *entry, "an integer");
  const AnyInteger value = load_integer(contents_->bytes, entry->type, entry->at);
  if (!value.negative && value.bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Error{name() + ": metadata " + quoted(key) + " at byte " + std::to_string(entry->at) + ": expected less than 2^63, found " +
                 std::to_string(value.bits) + "; the file is damaged: fetch it again or convert it again"};
  }
  return static_cast<int64_t>(value.bits);
}

Result<double> GgufFile::number(std::string_view key) const {
  const MetadataValue* entry = contents_->lookup(key);
  if (entry == nullptr) return missing(name(), "metadata", key);
  if (entry->type == ValueType::f32) return static_cast<double>(load<float>(contents_->bytes, entry->at));
  if (entry->type == ValueType::f64) return load<double>(contents_->bytes, entry->at);
  if (!is_integer(entry->type)) return wrong_type(name(), *entry, "a number");
  const AnyInteger value = load_integer(contents_->bytes, entry->type, entry->at);
  return value.negative ? static_cast<double>(static_cast<int64_t>(value.bits)) : static_cast<double>(value.bits);
}

Result<bool> GgufFile::boolean(std::string_view key) const {
  const MetadataValue* entry = contents_->lookup(key);
  if (entry == nullptr) return missing(name(), "metadata", key);
  if (entry->type != ValueType::boolean) return wrong_type(name(), *entry, "a bool");
  return load<uint8_t>(contents_->bytes, entry->at) == 1;
}

Result<std::vector<std::string_view>> GgufFile::strings(std::string_view key) const {
  const MetadataValue* entry = contents_->lookup(key);
  if (entry == nullptr) return missing(name(), "metadata", key);
  if (entry->type != ValueType::array || entry->element_type != ValueType::string) {
    return wrong_type(name(), *entry, "an array of string");
  }
  std::vector<std::string_view> values;
  values.reserve(entry->count);
  ByteCursor cursor(contents_->bytes.subspan(entry->at), name());
  for (uint64_t i = 0; i < entry->count; ++i) {
    OUTRIDER_TRY(const std::string_view value, cursor.read_string(key));
    values.push_back(value);
  }
  return values;
}

Result<std::vector<int64_t>> GgufFile::integers(std::string_view key) const {
  const MetadataValue* entry = contents_->lookup(key);
  if (entry == nullptr) return missing(name(), "metadata", key);
  if (entry->type != ValueType::array || !(is_integer(entry->element_type) || entry->element_type == ValueType::boolean)) {
    return wrong_type(name(), *entry, "an array of an integer type");
  }
  std::vector<int64_t> values;
  values.reserve(entry->count);
  for (uint64_t i = 0; i < entry->count; ++i) {
    const AnyInteger value = load_integer(contents_->bytes, entry->element_type, entry->at + i * size_of(entry->element_type));
    if (!value.negative && value.bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Error{name() + ": metadata " + quoted(key) + " element " + std::to_string(i) + ": expected less than 2^63, found " +
                   std::to_string(value.bits) + "; the file is damaged: fetch it again or convert it again"};
    }
    values.push_back(static_cast<int64_t>(value.bits));
  }
  return values;
}

Result<std::vector<float>> GgufFile::floats(std::string_view key) const {
  const MetadataValue* entry = contents_->lookup(key);
  if (entry == nullptr) return missing(name(), "metadata", key);
  if (entry->type != ValueType::array || !is_float(entry->element_type)) return wrong_type(name(), *entry, "an array of a float type");
  std::vector<float> values;
  values.reserve(entry->count);
  for (uint64_t i = 0; i < entry->count; ++i) {
    const uint64_t at = entry->at + i * size_of(entry->element_type);
    values.push_back(entry->element_type == ValueType::f32 ? load<float>(contents_->bytes, at)
                                                           : static_cast<float>(load<double>(contents_->bytes, at)));
  }
  return values;
}

std::vector<std::string_view> GgufFile::keys() const {
  std::vector<std::string_view> keys;
  for (const MetadataValue& entry : contents_->metadata) keys.push_back(entry.key);
  return keys;
}

const std::vector<GgufFile::Tensor>& GgufFile::tensors() const { return contents_->tensors; }

const GgufFile::Tensor* GgufFile::find(std::string_view name) const {
  const auto found = contents_->tensor_index.find(name);
  return found == contents_->tensor_index.end() ? nullptr : &contents_->tensors[found->second];
}

Result<const GgufFile::Tensor*> GgufFile::tensor(std::string_view tensor_name, std::span<const int64_t> shape) const {
  const Tensor* found = find(tensor_name);
  if (found == nullptr) return missing(name(), "tensor", tensor_name);
  if (!kernels::type_traits(found->gguf_type)) {
    return Error{name() + ": tensor " + quoted(tensor_name) + ": expected one of the types " + computable_types() + ", found " +
                 std::string(gguf_type_name(found->gguf_type)) + "; quantise the model to one of these types"};
  }
  if (!std::equal(shape.begin(), shape.end(), found->shape.begin(), found->shape.end())) {
    return Error{name() + ": tensor " + quoted(tensor_name) + ": expected shape " + shape_text(shape) + ", found " +
                 shape_text(found->shape) + "; the file's metadata and tensors do not belong together: convert the model again"};
  }
  return found;
}

void GgufFile::release(const Tensor& tensor) const {
  if (!contents_->mapping.bytes().empty() && !tensor.data.empty()) contents_->mapping.release(tensor.data);
}

std::span<const std::byte> GgufFile::header() const {
  const std::span<const std::byte> bytes = contents_->bytes;
  size_t end = bytes.size();
  for (const Tensor& tensor : contents_->tensors) {
    if (!tensor.data.empty()) end = std::min(end, static_cast<size_t>(tensor.data.data() - bytes.data()));
  }
  return bytes.first(end);
}

size_t GgufFile::file_bytes() const { return contents_->bytes.size(); }
const std::string& GgufFile::name() const { return contents_->name; }
uint32_t GgufFile::version() const { return contents_->version; }

}  // namespace outrider::formats
