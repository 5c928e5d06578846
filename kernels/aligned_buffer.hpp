// A 64-byte aligned array of trivial elements, for data that kernels stream. It grows and is never shrunk; growing discards the contents.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace outrider::kernels {

template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t size) { ensure(size); }

  // Makes room for `size` elements. Contents are kept only when there already is room.
  void ensure(size_t size) {
    if (size > capacity_) {
      data_.reset();
      const size_t bytes = (size * sizeof(T) + 63) / 64 * 64;
      data_.reset(static_cast<T*>(std::aligned_alloc(64, bytes)));
      if (!data_) throw std::bad_alloc();
      capacity_ = bytes / sizeof(T);
    }
    size_ = size;
  }

  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] size_t size() const { return size_; }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T[], Free> data_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace outrider::kernels
