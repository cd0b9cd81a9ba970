// A thread pool with a queue of functions.
// case c: none
// std: c++17
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
  std::mutex mutex;
  std::condition_variable ready;
  std::deque<std::function<void()>> queue;
  bool closed = false;
  std::vector<std::thread> threads;

  void work() {
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock<std::mutex> lock(mutex);
        ready.wait(lock, [this] { return closed || !queue.empty(); });
        if (queue.empty()) return;
        job = std::move(queue.front());
        queue.pop_front();
      }
      job();
    }
  }

public:
  explicit Pool(int count) {
    for (int i = 0; i < count; i++) threads.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      closed = true;
    }
    ready.notify_all();
    for (auto &thread : threads) thread.join();
  }
  template <typename F> auto submit(F function) {
    auto task = std::make_shared<std::packaged_task<decltype(function())()>>(std::move(function));
    auto future = task->get_future();
    {
      std::lock_guard<std::mutex> lock(mutex);
      queue.emplace_back([task] { (*task)(); });
    }
    ready.notify_one();
    return future;
  }
};

int main() {
  Pool pool(3);
  std::vector<std::future<std::unique_ptr<int>>> results;
  for (int i = 0; i < 300; i++) results.push_back(pool.submit([i] { return std::make_unique<int>(i); }));
  for (int i = 0; i < 300; i++) if (*results[i].get() != i) return 1;
}
