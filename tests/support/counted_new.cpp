#include "support/counted_new.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<uint64_t> count{0};

void* counted_or_null(std::size_t size, std::size_t alignment) {
  count.fetch_add(1, std::memory_order_relaxed);
  const bool plain = alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  return plain ? std::malloc(size) : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* counted(std::size_t size, std::size_t alignment) {
  void* memory = counted_or_null(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) { return counted(size, static_cast<std::size_t>(alignment)); }
// A sanitizer has these of its own, whose memory only its own delete may free.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted_or_null(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_or_null(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

uint64_t outrider::tests::allocations() { return count.load(std::memory_order_relaxed); }
