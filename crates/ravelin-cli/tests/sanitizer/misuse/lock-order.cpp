// Locks of C++ in different orders: lock_guard and shared_mutex are seen by what they call.
// case cpp: lock-order-inversion b a
// std: c++17
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::mutex a;
static std::shared_mutex b;

static void first() {
  std::lock_guard<std::mutex> holds_a(a);
  std::unique_lock<std::shared_mutex> holds_b(b); //@b
}

static void second() {
  std::shared_lock<std::shared_mutex> holds_b(b);
  std::lock_guard<std::mutex> holds_a(a); //@a
}

static volatile bool is_over;
static __attribute__((noinline, no_sanitize("thread"))) void ends() { is_over = true; }
static __attribute__((noinline, no_sanitize("thread"))) bool has_ended() { return is_over; }

int main() {
  std::thread one([] {
    first();
    ends();
  });
  while (!has_ended()) std::this_thread::yield();
  std::thread two(second);
  two.join();
  one.join();
}
