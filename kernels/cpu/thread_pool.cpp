#include "kernels/cpu/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace outrider::kernels {
namespace {

using Clock = std::chrono::steady_clock;

// How long a wait spins before it parks in the kernel (a futex costs about 5 us to sleep and wake). Within a run the others arrive
// after one operation's imbalance, so the barrier's limit is rarely reached. Between runs the scheduler and the sampler take tens
// of microseconds, which the dispatch limit covers; a host without work parks.
constexpr auto kBarrierSpin = std::chrono::microseconds(1000);
// A wait that is longer than most imbalances gives its processor away at each turn: on a machine that others use too, the thread waited
// for may stand in line for this very processor, and spinning on would keep it from running. With nobody in line it costs a system call.
constexpr auto kPauseSpin = std::chrono::microseconds(30);
constexpr auto kDispatchSpin = std::chrono::microseconds(200);
// With more threads than processors the one waited for may need this one's processor: give it away soon.
constexpr auto kOversubscribedSpin = std::chrono::microseconds(5);

// Returns once `value` differs from `old`, having loaded as much of `upcoming` into the cache as there was time for.
void wait_while_equal(std::atomic<uint32_t>& value, uint32_t old, Clock::duration spin, bool oversubscribed,
                      std::span<const std::byte> upcoming = {}) {
  const auto begin = Clock::now(), deadline = begin + (oversubscribed ? Clock::duration(kOversubscribedSpin) : spin);
  for (auto now = begin; now < deadline; now = Clock::now()) {
    for (int i = 0; i < 32; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
      if (upcoming.empty()) {
        __builtin_ia32_pause();
      } else {  // two lines between two looks: the others are kept waiting for no more than one line's latency
        __builtin_prefetch(upcoming.data(), 0, 2);
        __builtin_prefetch(upcoming.data() + 64, 0, 2);
        upcoming = upcoming.subspan(std::min<size_t>(upcoming.size(), 128));
      }
    }
    if (now - begin > kPauseSpin) std::this_thread::yield();
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

}  // namespace

struct ThreadPool::State {
  // Each on its own cache line: the counters are written by all threads while others spin on the phase.
  alignas(64) std::atomic<uint32_t> run{0};      // changes when there is a function to run, or to stop
  alignas(64) std::atomic<uint32_t> phase{0};    // changes when a barrier opens
  alignas(64) std::atomic<int> arrived{0};
  alignas(64) void (*function)(void*, const Worker&) = nullptr;
  void* context = nullptr;
  bool stop = false;
  bool oversubscribed = false;
  int count = 1;
  std::mutex callers;
  std::vector<std::thread> threads;
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.count = threads < 1 ? 1 : threads;
  state.oversubscribed = static_cast<unsigned>(state.count) > std::thread::hardware_concurrency();
  state.threads.reserve(static_cast<size_t>(state.count - 1));
  for (int index = 1; index < state.count; ++index) {
    state.threads.emplace_back([this, index] {
      State& s = *state_;
      for (uint32_t seen = 0;; ++seen) {
        wait_while_equal(s.run, seen, kDispatchSpin, s.oversubscribed);
        if (s.stop) return;
        s.function(s.context, Worker{this, index, s.count});
        wait_at_barrier();
      }
    });
  }
}

ThreadPool::~ThreadPool() {
  state_->stop = true;
  state_->run.fetch_add(1, std::memory_order_release);
  state_->run.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

int ThreadPool::size() const { return state_->count; }

void ThreadPool::run_erased(void (*function)(void*, const Worker&), void* context) {
  State& state = *state_;
  const std::lock_guard lock(state.callers);
  if (state.count == 1) {
    function(context, Worker{this, 0, 1});
    return;
  }
  // The workers have all passed the barrier that ended the last run, so nobody reads these fields now.
  state.function = function;
  state.context = context;
  state.run.fetch_add(1, std::memory_order_release);
  state.run.notify_all();
  function(context, Worker{this, 0, state.count});
  wait_at_barrier();
}

void ThreadPool::wait_at_barrier(std::span<const std::byte> upcoming) {
  State& state = *state_;
  if (state.count == 1) return;
  const uint32_t phase = state.phase.load(std::memory_order_relaxed);  // cannot change before this thread arrives
  if (state.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == state.count) {
    state.arrived.store(0, std::memory_order_relaxed);
    state.phase.fetch_add(1, std::memory_order_release);
    state.phase.notify_all();
  } else {
    wait_while_equal(state.phase, phase, kBarrierSpin, state.oversubscribed, upcoming);
  }
}

void Worker::barrier(std::span<const std::byte> upcoming) const { pool->wait_at_barrier(upcoming); }

}  // namespace outrider::kernels
