// Everything sequentially consistent, at random: nothing to report.
// case c: none
#include <atomic>
#include <thread>
#include <vector>

static std::atomic<int> cells[6];

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([i] {
      unsigned seed = i + 1;
      for (int j = 0; j < 2000; j++) {
        seed = seed * 1103515245 + 12345;
        auto &cell = cells[(seed >> 16) % 6];
        int seen = j;
        switch ((seed >> 24) % 6) {
        case 0: cell = j; break;
        case 1: cell++; break;
        case 2: cell.exchange(j); break;
        case 3: cell.compare_exchange_strong(seen, j + 1); break;
        case 4: std::atomic_thread_fence(std::memory_order_seq_cst); break;
        default: seen = cell; break;
        }
      }
    });
  for (auto &thread : threads) thread.join();
}
