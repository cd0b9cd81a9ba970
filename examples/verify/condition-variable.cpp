//! expect verify: verified
//! expect verify -DBROKEN: violated: deadlock
// Two consumers and two elements. The broken producer wakes one consumer for both.
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable changed;
static int elements;

static void consume() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [] { return elements > 0; });
  elements--;
}

int main() {
  std::thread first(consume), second(consume);
  {
    std::lock_guard<std::mutex> lock(mutex);
    elements = 2;
#ifdef BROKEN
    changed.notify_one();
#else
    changed.notify_all();
#endif
  }
  first.join();
  second.join();
  return elements != 0;
}
