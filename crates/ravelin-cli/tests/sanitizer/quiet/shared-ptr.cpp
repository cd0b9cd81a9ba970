// shared_ptr and weak_ptr copied and dropped in many threads; the last one destroys.
// case c: none
// std: c++17
#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

struct Object {
  int value = 7;
  std::vector<int> more = std::vector<int>(10, 1);
  ~Object() { value = -1; }
};

static std::shared_ptr<Object> current = std::make_shared<Object>();

int main() {
  for (int round = 0; round < 30; round++) {
    auto object = std::make_shared<Object>();
    std::shared_ptr<Object> apart(new Object);
    std::weak_ptr<Object> weak = object;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
      threads.emplace_back([object, weak, apart, i]() mutable {
        for (int j = 0; j < 20; j++) {
          std::shared_ptr<Object> copy = object;
          if (copy->value != 7) std::abort();
          if (auto locked = weak.lock()) if (locked->more[3] != 1) std::abort();
          auto seen = std::atomic_load(&current);
          if (seen->value != 7) std::abort();
          if (i == 0) std::atomic_store(&current, std::make_shared<Object>());
        }
        object.reset();
        apart.reset();
      });
    object.reset();
    apart.reset();
    for (auto &thread : threads) thread.join();
  }
}
