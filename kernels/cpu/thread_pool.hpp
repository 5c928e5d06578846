// A pool that runs one function on every thread at once (SPMD) and lets those threads meet at barriers. A forward pass is one
// such run: each thread takes its slice of every operation and waits for the others where one operation needs another's
// output. Waiting spins for a bounded time, then parks in the kernel, so an idle host costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace outrider::kernels {

class ThreadPool;

// One thread's view of a run.
struct Worker {
  ThreadPool* pool;
  int index;  // 0 is the thread that called run
  int count;

  // Waits until all `count` threads of the run are here. Every thread must make the same sequence of barrier calls.
  // While it waits it loads `upcoming` into its core's cache, so that memory is not idle: what this thread reads first afterwards.
  void barrier(std::span<const std::byte> upcoming = {}) const;

  // This thread's contiguous share [begin, end) of n items; shares differ by at most one item.
  struct Share { int64_t begin, end; };
  [[nodiscard]] Share share(int64_t n) const { return {n * index / count, n * (index + 1) / count}; }
};

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // >= 1; the calling thread counts as one
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int size() const;

  // Runs f(worker) on every thread and returns when all have returned. f must not throw. One run at a time: a second caller
  // waits. Nothing is allocated.
  template <class F>
  void run(F&& f) {
    using Function = std::remove_reference_t<F>;
    run_erased([](void* context, const Worker& worker) { (*static_cast<Function*>(context))(worker); },
               const_cast<void*>(static_cast<const void*>(&f)));
  }

 private:
  friend struct Worker;
  void run_erased(void (*function)(void*, const Worker&), void* context);
  void wait_at_barrier(std::span<const std::byte> upcoming = {});
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace outrider::kernels
