// std::mutex and its kin, shared_mutex, condition_variable, scoped_lock, call_once.
// case c: none
// std: c++17
#include <cstdlib>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

static std::mutex first, second;
static std::recursive_mutex recursive;
static std::timed_mutex timed;
static std::shared_mutex shared;
static std::condition_variable changed;
static std::condition_variable_any changed_any;
static std::once_flag once;
static int pair, depth, slow, table, turn, initialised;

static void worker(int me) {
  std::call_once(once, [] { initialised = 7; });
  if (initialised != 7) std::abort();
  for (int i = 0; i < 100; i++) {
    if (me % 2) {
      std::scoped_lock both(first, second);
      pair++;
    } else {
      std::scoped_lock both(second, first);
      pair++;
    }
    {
      std::lock_guard<std::recursive_mutex> one(recursive);
      std::lock_guard<std::recursive_mutex> two(recursive);
      depth++;
    }
    if (timed.try_lock_for(std::chrono::seconds(100))) {
      slow++;
      timed.unlock();
    }
    if (i % 4 == 0) {
      std::unique_lock<std::shared_mutex> write(shared);
      table++;
    } else {
      std::shared_lock<std::shared_mutex> read(shared);
      if (table < 0) std::abort();
    }
    std::unique_lock<std::mutex> lock(first);
    if (i % 2) changed.wait(lock, [&] { return turn % 3 == me; });
    else changed.wait_for(lock, std::chrono::seconds(100), [&] { return turn % 3 == me; });
    turn++;
    changed.notify_all();
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back(worker, i);
  for (auto &thread : threads) thread.join();
  return pair != 300 || turn != 300;
}
