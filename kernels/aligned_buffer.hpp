// A 64-byte aligned array of trivial elements, for data that kernels stream. It grows and is never shrunk; growing discards the contents.
// A large one lies on huge pages where the system lends them: weights are read from end to end for each token, and with pages of 4 KiB
// each 64 cache lines cost another address translation, and loading a page fault.
#pragma once

#include <sys/mman.h>

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
      const bool large = bytes >= 2 * kHugePage;
      void* memory = nullptr;
      if (::posix_memalign(&memory, large ? kHugePage : 64, bytes) != 0) throw std::bad_alloc();
      if (large) ::madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);  // a wish: failing costs speed alone
      data_.reset(static_cast<T*>(memory));
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
  static constexpr size_t kHugePage = size_t{2} << 20;  // of x86-64 and of AArch64 with 4 KiB pages
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T[], Free> data_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace outrider::kernels
