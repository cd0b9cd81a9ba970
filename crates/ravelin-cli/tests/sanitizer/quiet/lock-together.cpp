// std::lock and std::scoped_lock avoid deadlocks whatever the order of their arguments.
// case cpp: none
// std: c++17
#include <mutex>
#include <thread>

static std::mutex a, b;

int main() {
  std::thread one([] {
    for (int i = 0; i < 100; i++) std::scoped_lock both(a, b);
  });
  std::thread two([] {
    for (int i = 0; i < 100; i++) {
      std::lock(b, a);
      a.unlock();
      b.unlock();
    }
  });
  one.join();
  two.join();
}
