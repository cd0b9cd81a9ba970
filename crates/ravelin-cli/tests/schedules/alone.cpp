// C++'s waits with a time, made while there is one thread, then with a second one. The argument names one of them.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>

using namespace std::chrono_literals;

static void check(bool what, const char *sentence) {
  if (!what) {
    std::fprintf(stderr, "%s\n", sentence);
    std::exit(9);
  }
}

static void wait(const std::string &chosen) {
  auto began = std::chrono::steady_clock::now();
  if (chosen == "wait_for") {
    std::mutex mutex;
    std::condition_variable condition;
    std::unique_lock<std::mutex> lock(mutex);
    check(!condition.wait_for(lock, 60s, [] { return false; }), "wait_for");
  } else if (chosen == "wait_until") {
    std::mutex mutex;
    std::condition_variable condition;
    std::unique_lock<std::mutex> lock(mutex);
    auto until = std::chrono::system_clock::now() + 60s;
    check(!condition.wait_until(lock, until, [] { return false; }), "wait_until");
  } else if (chosen == "future") {
    std::promise<int> promise;
    check(promise.get_future().wait_for(60s) == std::future_status::timeout, "future::wait_for");
  } else if (chosen == "semaphore") {
    std::counting_semaphore<4> semaphore(0);
    check(!semaphore.try_acquire_for(60s), "try_acquire_for");
  } else if (chosen == "timed_mutex") {
    std::timed_mutex mutex;
    mutex.lock();
    check(!mutex.try_lock_for(60s), "try_lock_for");
    mutex.unlock();
  } else if (chosen == "shared_timed_mutex") {
    std::shared_timed_mutex mutex;
    mutex.lock_shared();
    check(!mutex.try_lock_for(60s), "try_lock_for");
    mutex.unlock_shared();
  } else if (chosen == "sleep_for") {
    std::this_thread::sleep_for(60s);
  } else {
    check(false, "there is no such wait");
  }
  check(std::chrono::steady_clock::now() - began >= 60s, "it came back too early");
}

int main(int count, char **words) {
  std::string chosen = count > 1 ? words[1] : "sleep_for";
  wait(chosen);
  std::thread thread([] {});
  wait(chosen);
  thread.join();
  wait(chosen);
}
