// The synchronisation of C++20: semaphores, latch, barrier, jthread, stop tokens, atomic wait and notify.
// case c: may violation
// std: c++20
#include <cstdlib>
#include <atomic>
#include <barrier>
#include <latch>
#include <semaphore>
#include <stop_token>
#include <thread>
#include <vector>

int main() {
  std::counting_semaphore<8> full(0), empty(1);
  int slot = 0;
  {
    std::jthread producer([&] { for (int i = 0; i < 100; i++) empty.acquire(), slot = i, full.release(); });
    std::jthread consumer([&] { for (int i = 0; i < 100; i++) { full.acquire(); if (slot != i) std::abort(); empty.release(); } });
  }
  int cells[3] = {};
  std::latch latch(3);
  std::barrier barrier(3);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; i++)
      threads.emplace_back([&, i] {
        cells[i] = 1;
        latch.arrive_and_wait();
        if (cells[(i + 1) % 3] != 1) std::abort();
        for (int phase = 2; phase < 40; phase++) {
          barrier.arrive_and_wait();
          cells[i] = phase;
          barrier.arrive_and_wait();
          if (cells[(i + 1) % 3] != phase) std::abort();
        }
      });
  }
  int payload = 0;
  std::atomic<int> flag{0};
  std::jthread waiter([&](std::stop_token token) {
    flag.wait(0, std::memory_order_acquire);
    if (payload != 7) std::abort();
    while (!token.stop_requested()) std::this_thread::yield();
  });
  payload = 7;
  flag.store(1, std::memory_order_release);
  flag.notify_all();
  waiter.request_stop();
}
