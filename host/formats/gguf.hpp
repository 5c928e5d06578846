// A reader for GGUF version 2 and 3 files: typed metadata and named tensors over read-only, memory-mapped bytes. Every count,
// offset and length in the file is checked before it is used, and nothing is allocated by a number the file merely states, so a
// broken or hostile file gives an error that names the field and its byte offset. It interprets no architecture and converts no
// tensor: what the bytes mean to a model is decided in host/model, how they dequantise in kernels/.
//
// Everything returned as a view (strings, tensors, their data) lives as long as the GgufFile. A GgufFile is immutable once
// open: all const functions may be called from any thread at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.hpp"
#include "kernels/types.hpp"

namespace outrider::formats {

class GgufFile {
 public:
  struct Tensor {
    std::string_view name;
    kernels::TensorType type;         // meaningful only for a type this project computes with: see tensor()
    uint32_t gguf_type;               // the file's own number, as gguf_type_name() knows it
    std::vector<int64_t> shape;       // 1 to 4 dimensions; shape[0] is the contiguous one: {in_features, out_features}
    std::span<const std::byte> data;  // whole rows of blocks; empty when the format's layout of that type is not known
  };

  // Maps the file. Errors: cannot be opened, not a GGUF, another version, split over several files, or malformed.
  static Result<GgufFile> open(const std::filesystem::path& path);

  // Reads from memory, for tests and fuzzing; `name` stands for the path in errors. Borrows the bytes,
  // which should start at an address aligned as the file's tensors are (32 bytes unless it says otherwise).
  static Result<GgufFile> from_bytes(std::span<const std::byte> bytes, std::string name);

  GgufFile(GgufFile&&) noexcept;
  GgufFile& operator=(GgufFile&&) noexcept;
  ~GgufFile();

  // Metadata. An error names the key, the type expected and the type found, or the value that does not fit.
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] bool is_array(std::string_view key) const;  // false when there is no such key
  [[nodiscard]] Result<std::string_view> string(std::string_view key) const;
  [[nodiscard]] Result<uint64_t> unsigned_integer(std::string_view key) const;  // any integer type, value >= 0
  [[nodiscard]] Result<int64_t> integer(std::string_view key) const;            // any integer type, value < 2^63
  [[nodiscard]] Result<double> number(std::string_view key) const;              // any float or integer type
  [[nodiscard]] Result<bool> boolean(std::string_view key) const;
  [[nodiscard]] Result<std::vector<std::string_view>> strings(std::string_view key) const;
  [[nodiscard]] Result<std::vector<int64_t>> integers(std::string_view key) const;  // array of any integer type or bool
  [[nodiscard]] Result<std::vector<float>> floats(std::string_view key) const;      // array of any float type

  // The value of `key`, or `fallback` when the file has no such key. A key of the wrong type is still an error. T is
  // std::string_view, bool, uint64_t (or another unsigned type), int64_t (or another signed one), double or float.
  template <class T>
  [[nodiscard]] Result<T> value_or(std::string_view key, T fallback) const;

  // All keys, in the file's order.
  [[nodiscard]] std::vector<std::string_view> keys() const;

  // All tensors in the file's order, those of types this project does not compute with included.
  [[nodiscard]] const std::vector<Tensor>& tensors() const;
  [[nodiscard]] const Tensor* find(std::string_view name) const;  // nullptr when absent

  // The tensor of that name and exactly that shape, of a type this project computes with; else an error naming what differs.
  [[nodiscard]] Result<const Tensor*> tensor(std::string_view name, std::span<const int64_t> shape) const;

  // Tells the kernel that the tensor's pages are no longer needed here (after weights were repacked), so that the memory they
  // occupy is free for others. The data stays readable: touching it reads the file again.
  void release(const Tensor& tensor) const;

  // Everything before the first tensor's data: metadata and the table of tensors.
  [[nodiscard]] std::span<const std::byte> header() const;

  [[nodiscard]] size_t file_bytes() const;
  [[nodiscard]] const std::string& name() const;  // the path it was opened with
  [[nodiscard]] uint32_t version() const;

 private:
  struct Contents;
  explicit GgufFile(std::unique_ptr<Contents> contents);
  static Result<GgufFile> parse(std::unique_ptr<Contents> contents);

  std::unique_ptr<Contents> contents_;
};

// The name of a GGUF tensor type as its tools print it ("Q2_K"), also of those this project does not compute with;
// "unknown type" for a number that names none.
std::string_view gguf_type_name(uint32_t gguf_type);

template <class T>
Result<T> GgufFile::value_or(std::string_view key, T fallback) const {
  if (!has(key)) return fallback;
  if constexpr (std::is_same_v<T, std::string_view>) {
    return string(key);
  } else if constexpr (std::is_same_v<T, bool>) {
    return boolean(key);
  } else if constexpr (std::is_floating_point_v<T>) {
    OUTRIDER_TRY(const double value, number(key));
    return static_cast<T>(value);
  } else {
    static_assert(std::is_integral_v<T>, "value_or: a metadata value is a string, a bool, an integer or a float");
    using Wide = std::conditional_t<std::is_unsigned_v<T>, uint64_t, int64_t>;
    Result<Wide> read = [&] {
      if constexpr (std::is_unsigned_v<T>) return unsigned_integer(key);
      else return integer(key);
    }();
    if (!read.ok()) return read.error();
    const T narrow = static_cast<T>(*read);
    if (static_cast<Wide>(narrow) != *read) {
      return Error{name() + ": metadata '" + std::string(key) + "': expected a value of at most " + std::to_string(sizeof(T) * 8) +
                   " bits, found " + std::to_string(*read) + "; the file is damaged or made for another program"};
    }
    return narrow;
  }
}

}  // namespace outrider::formats
