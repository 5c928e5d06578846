#include "kernels/cpu/thread_pool.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using outrider::kernels::ThreadPool;
using outrider::kernels::Worker;

TEST_CASE("a run calls the function once on every thread, with its index") {
  for (const int threads : {1, 2, 3, 9}) {
    ThreadPool pool(threads);
    REQUIRE(pool.size() == threads);
    std::vector<int> calls(static_cast<size_t>(threads));
    for (int i = 0; i < 100; ++i)
      pool.run([&](const Worker& worker) {
        if (worker.count == threads && worker.pool == &pool) ++calls[static_cast<size_t>(worker.index)];
      });
    for (const int count : calls) REQUIRE(count == 100);
  }
}

TEST_CASE("index 0 is the calling thread") {
  ThreadPool pool(3);
  std::thread::id first;
  pool.run([&](const Worker& worker) {
    if (worker.index == 0) first = std::this_thread::get_id();
  });
  REQUIRE(first == std::this_thread::get_id());
}

TEST_CASE("after a barrier every thread sees what the others wrote before it") {
  for (const int threads : {1, 2, 4, 7}) {
    ThreadPool pool(threads);
    std::vector<int> values(static_cast<size_t>(threads));
    std::atomic<int> wrong{0};
    pool.run([&](const Worker& worker) {
      for (int round = 0; round < 300; ++round) {
        values[static_cast<size_t>(worker.index)] = round;  // plain memory: the barrier orders it
        worker.barrier();
        for (const int value : values)
          if (value != round) ++wrong;
        worker.barrier();
      }
    });
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("shares are contiguous, cover everything and differ by at most one") {
  for (const int count : {1, 2, 3, 7}) {
    for (const int64_t n : {0, 1, 6, 7, 100}) {
      int64_t next = 0;
      for (int index = 0; index < count; ++index) {
        const auto [begin, end] = Worker{nullptr, index, count}.share(n);
        REQUIRE(begin == next);
        REQUIRE(end - begin >= n / count);
        REQUIRE(end - begin <= n / count + 1);
        next = end;
      }
      REQUIRE(next == n);
    }
  }
}

TEST_CASE("a pool whose threads have parked runs again") {
  ThreadPool pool(3);
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // longer than the spin
    std::atomic<int> calls{0};
    pool.run([&](const Worker& worker) {
      if (worker.index == 1) std::this_thread::sleep_for(std::chrono::milliseconds(3));  // the others park at the barrier
      worker.barrier();
      ++calls;
    });
    REQUIRE(calls == 3);
  }
}

TEST_CASE("callers on several threads take turns") {
  ThreadPool pool(2);
  int64_t sum = 0;  // written by index 0 alone, one run at a time
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c)
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        pool.run([&](const Worker& worker) {
          if (worker.index == 0) ++sum;
          worker.barrier();
        });
    });
  for (std::thread& caller : callers) caller.join();
  REQUIRE(sum == 600);
}

TEST_CASE("a pool can be made and dropped without a run") {
  for (int i = 0; i < 20; ++i) ThreadPool pool(4);
  SUCCEED();
}
