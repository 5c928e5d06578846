// What this machine can do at best, measured with every thread of a pool: bytes read from memory a second, and multiply-adds a second
// by the instructions of the matrix products. They are the two edges of the roofline that a kernel's speed is held against. Every call
// is one sample of some milliseconds; other programs can only lower it, so callers take the best of several.
#pragma once

#include <cstddef>

#include "kernels/aligned_buffer.hpp"
#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/thread_pool.hpp"

namespace outrider::kernels {

// Memory to be read, far larger than the caches. Each thread writes, and so places, the part that it will read.
class ReadBandwidth {
 public:
  ReadBandwidth(ThreadPool& pool, size_t bytes);  // throws std::bad_alloc

  // Bytes a second of one pass over all of it.
  double measure();

 private:
  ThreadPool& pool_;
  AlignedBuffer<uint64_t> data_;
};

enum class MultiplyAdd {
  int8,  // a product of an unsigned and a signed byte, and its addition: what products with quantised weights are made of
  f32,   // a fused multiply-add of floats: products with float weights, and attention
};

// Multiply-adds a second by this instruction set's way to do them, operands in registers. `isa` must be available.
double multiply_add_rate(Isa isa, ThreadPool& pool, MultiplyAdd kind);

}  // namespace outrider::kernels
