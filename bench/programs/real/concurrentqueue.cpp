// moodycamel::ConcurrentQueue: two producers and two consumers, one by one and in bulk. Argument: items per producer.
#include <concurrentqueue/concurrentqueue.h>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {
constexpr int kPairs = 2;
constexpr long kBulk = 16;
// How many items wait is not a matter of who is faster.
constexpr std::size_t kBacklog = 8192;
moodycamel::ConcurrentQueue<long> queue;
std::atomic<long> left, sum;

void Produce(long items) {
  moodycamel::ProducerToken token(queue);
  long bulk[kBulk];
  for (long item = 1; item <= items;) {
    while (item % 64 == 0 && queue.size_approx() > kBacklog) std::this_thread::yield();
    if (item % 4096 < 2048 || item + kBulk > items) {
      queue.enqueue(token, item++);
    } else {
      for (long &next : bulk) next = item++;
      queue.enqueue_bulk(token, bulk, kBulk);
    }
  }
}

void Consume() {
  moodycamel::ConsumerToken token(queue);
  long bulk[kBulk], own = 0;
  while (left.load(std::memory_order_acquire) > 0) {
    auto taken = queue.try_dequeue_bulk(token, bulk, kBulk);
    if (taken == 0) {
      std::this_thread::yield();
      continue;
    }
    for (std::size_t number = 0; number < taken; number++) own += bulk[number];
    left.fetch_sub(static_cast<long>(taken), std::memory_order_acq_rel);
  }
  sum += own;
}
}  // namespace

int main(int count, char **words) {
  if (count != 2) return 2;
  long items = std::atol(words[1]);
  left = kPairs * items;
  std::vector<std::thread> threads;
  for (int pair = 0; pair < kPairs; pair++) {
    threads.emplace_back(Produce, items);
    threads.emplace_back(Consume);
  }
  for (auto &thread : threads) thread.join();
  return sum == kPairs * (items * (items + 1) / 2) ? 0 : 1;
}
