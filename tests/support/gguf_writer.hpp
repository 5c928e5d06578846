// Writes small GGUF files in memory for tests, and remembers where each field lies, so that a test can damage a chosen one. It
// writes what it is told, right or wrong; checking is the reader's work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace outrider::testing {

class GgufWriter {
 public:
  struct Field {
    std::string name;  // "tensor count", "metadata general.alignment value", "tensor a.weight offset"
    size_t at;         // byte offset in the built file
    size_t bytes;      // 1 to 8
  };

  enum : uint32_t { u8 = 0, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

  uint32_t version = 3;
  uint64_t alignment = 32;  // used to place tensors; add the key general.alignment yourself when it is not 32

  // A metadata value of a fixed size; `type` is one of the enum's.
  template <class T>
  void value(const std::string& key, uint32_t type, T bits) {
    begin_metadata(key, type);
    put(metadata_, "metadata " + key + " value", bits);
  }

  void text(const std::string& key, std::string_view text) {
    begin_metadata(key, string);
    put_string(metadata_, "metadata " + key + " value length", text);
  }

  template <class T>
  void values(const std::string& key, uint32_t element_type, const std::vector<T>& elements) {
    begin_array(key, element_type, elements.size());
    for (const T element : elements) put(metadata_, "metadata " + key + " element", element);
  }

  void texts(const std::string& key, const std::vector<std::string>& elements) {
    begin_array(key, string, elements.size());
    for (const std::string& element : elements) put_string(metadata_, "metadata " + key + " element length", element);
  }

  // An array of `depth` arrays around one u8: {{…{7}…}}.
  void nested(const std::string& key, int depth) {
    begin_metadata(key, array);
    for (int level = 1; level < depth; ++level) {
      put(metadata_, "metadata " + key + " element type", uint32_t{array});
      put(metadata_, "metadata " + key + " element count", uint64_t{1});
    }
    put(metadata_, "metadata " + key + " element type", uint32_t{u8});
    put(metadata_, "metadata " + key + " element count", uint64_t{1});
    put(metadata_, "metadata " + key + " element", uint8_t{7});
  }

  // `shape[0]` is the contiguous dimension; `data` is the tensor's bytes, placed at the next multiple of the alignment.
  void tensor(const std::string& name, uint32_t type, const std::vector<int64_t>& shape, const std::vector<std::byte>& data) {
    const std::string label = "tensor " + name + " ";
    put_string(infos_, label + "name length", name);
    put(infos_, label + "dimension count", static_cast<uint32_t>(shape.size()));
    for (size_t d = 0; d < shape.size(); ++d) put(infos_, label + "dimension " + std::to_string(d), shape[d]);
    put(infos_, label + "type", type);
    pad(data_.bytes);
    put(infos_, label + "offset", static_cast<uint64_t>(data_.bytes.size()));
    data_.bytes.insert(data_.bytes.end(), data.begin(), data.end());
    ++tensors_;
  }

  std::vector<std::byte> build() {
    Section file;
    put(file, "magic", uint32_t{0x46554747});  // "GGUF"
    put(file, "version", version);
    put(file, "tensor count", tensors_);
    put(file, "metadata count", entries_);
    append(file, metadata_);
    append(file, infos_);
    pad(file.bytes);
    append(file, data_);
    fields_ = std::move(file.fields);
    return std::move(file.bytes);
  }

  // All fields of the file last built, in order.
  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }

  [[nodiscard]] const Field& field(std::string_view name) const {
    for (const Field& field : fields_) {
      if (field.name == name) return field;
    }
    throw std::invalid_argument("no such field: " + std::string(name));
  }

  // Overwrites a field with the low bytes of `bits`.
  static void overwrite(std::vector<std::byte>& file, const Field& field, uint64_t bits) {
    std::memcpy(file.data() + field.at, &bits, field.bytes);
  }

 private:
  struct Section {
    std::vector<std::byte> bytes;
    std::vector<Field> fields;  // offsets within the section
  };

  template <class T>
  static void put(Section& section, const std::string& name, T bits) {
    section.fields.push_back({name, section.bytes.size(), sizeof(T)});
    const auto* first = reinterpret_cast<const std::byte*>(&bits);
    section.bytes.insert(section.bytes.end(), first, first + sizeof(T));
  }

  static void put_string(Section& section, const std::string& name, std::string_view text) {
    put(section, name, static_cast<uint64_t>(text.size()));
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    section.bytes.insert(section.bytes.end(), first, first + text.size());
  }

  void begin_metadata(const std::string& key, uint32_t type) {
    put_string(metadata_, "metadata " + key + " key length", key);
    put(metadata_, "metadata " + key + " type", type);
    ++entries_;
  }

  void begin_array(const std::string& key, uint32_t element_type, size_t count) {
    begin_metadata(key, array);
    put(metadata_, "metadata " + key + " element type", element_type);
    put(metadata_, "metadata " + key + " element count", static_cast<uint64_t>(count));
  }

  static void append(Section& to, const Section& from) {
    for (Field field : from.fields) {
      field.at += to.bytes.size();
      to.fields.push_back(std::move(field));
    }
    to.bytes.insert(to.bytes.end(), from.bytes.begin(), from.bytes.end());
  }

  void pad(std::vector<std::byte>& bytes) const { bytes.resize((bytes.size() + alignment - 1) / alignment * alignment); }

  Section metadata_, infos_, data_;
  uint64_t entries_ = 0, tensors_ = 0;
  std::vector<Field> fields_;
};

}  // namespace outrider::testing
