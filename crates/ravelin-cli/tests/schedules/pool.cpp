// What C++ offers for waiting, and an order of results that depends on the schedule.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <random>
#include <thread>
#include <unordered_set>
#include <vector>

static std::mutex mutex;
static std::condition_variable condition;
static std::queue<int> queue;
static std::vector<int> done;
static std::atomic<int> left{24};
static std::atomic<bool> go{false};
static std::atomic<int> racy_a{0}, racy_b{0};

static int once() {
  static int value = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return 42;
  }();
  return value;
}

static void work(int me) {
  go.wait(false);
  racy_a.store(me, std::memory_order_relaxed);
  racy_b.load(std::memory_order_relaxed);
  racy_b.store(me, std::memory_order_relaxed);
  racy_a.load(std::memory_order_relaxed);
  for (;;) {
    std::unique_lock<std::mutex> lock(mutex);
    if (!condition.wait_for(lock, std::chrono::seconds(5), [] { return !queue.empty() || left == 0; })) continue;
    if (queue.empty()) return;
    int item = queue.front();
    queue.pop();
    done.push_back(item * 100 + me);
    lock.unlock();
    auto block = std::make_unique<char[]>(100 + 8 * item);
    block[0] = static_cast<char>(once());
    if (--left == 0) condition.notify_all();
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back(work, i);
  auto future = std::async(std::launch::async, [] { return once(); });
  go.store(true);
  go.notify_all();
  for (int i = 0; i < 24; i++) {
    std::lock_guard<std::mutex> lock(mutex);
    queue.push(i);
    condition.notify_one();
  }
  if (future.get() != 42) return 9;
  for (auto &thread : threads) thread.join();
  // Addresses, times and random numbers: what else could differ between runs.
  std::unordered_set<const void *> addresses;
  std::vector<std::unique_ptr<int>> blocks;
  for (int i = 0; i < 16; i++) blocks.push_back(std::make_unique<int>(i)), addresses.insert(blocks.back().get());
  for (const void *address : addresses) std::printf("%p ", address);
  for (int item : done) std::printf("%d ", item);
  std::printf("%lld\n", static_cast<long long>(std::chrono::steady_clock::now().time_since_epoch().count()));
}
