// moodycamel's concurrent queue: two producers, one with a token and one without, and two consumers.
#include <concurrentqueue/concurrentqueue.h>
#include <atomic>
#include <thread>
#include <vector>

enum { PRODUCERS = 2, CONSUMERS = 2, ITEMS = 400 };

int main() {
  moodycamel::ConcurrentQueue<long> queue(64);
  std::atomic<long> sum{0}, taken{0};
  std::vector<std::thread> threads;
  for (int producer = 0; producer < PRODUCERS; producer++)
    threads.emplace_back([&, producer] {
      moodycamel::ProducerToken token(queue);
      for (long item = 1; item <= ITEMS; item++) {
        if (producer == 0) queue.enqueue(item);
        else queue.enqueue(token, item);
      }
    });
  for (int consumer = 0; consumer < CONSUMERS; consumer++)
    threads.emplace_back([&] {
      long item;
      while (taken.load(std::memory_order_acquire) < PRODUCERS * ITEMS) {
        if (queue.try_dequeue(item)) {
          sum.fetch_add(item, std::memory_order_acq_rel);
          taken.fetch_add(1, std::memory_order_acq_rel);
        } else {
          std::this_thread::yield();
        }
      }
    });
  for (auto &thread : threads) thread.join();
  return sum != PRODUCERS * (long)ITEMS * (ITEMS + 1) / 2;
}
