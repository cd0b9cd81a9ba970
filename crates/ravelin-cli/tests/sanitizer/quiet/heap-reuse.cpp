// new and delete in threads, with polymorphic objects and containers; what was known about freed memory is forgotten.
// case c: none
// std: c++17
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

struct Base {
  virtual ~Base() = default;
  virtual int get() const { return 1; }
};
struct Derived : Base {
  std::string text = "something that does not fit in the object";
  int get() const override { return 2; }
};
struct alignas(64) Wide {
  long values[8] = {};
};

static std::mutex mutex;
static std::vector<std::unique_ptr<Base>> shared;

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([i] {
      std::unordered_map<int, std::string> map;
      for (int j = 0; j < 300; j++) {
        std::unique_ptr<Base> object;
        if (j % 2) object = std::make_unique<Derived>();
        else object = std::make_unique<Base>();
        std::unique_ptr<Wide> wide(new Wide);
        wide->values[j % 8] = j;
        std::unique_ptr<int[]> array(new int[j + 1]);
        array[j] = i;
        map[j] = std::to_string(j);
        std::lock_guard<std::mutex> lock(mutex);
        shared.push_back(std::move(object));
        if (shared.size() > 8) {
          if (shared.front()->get() < 1) std::abort();
          shared.erase(shared.begin());
        }
      }
    });
  for (auto &thread : threads) thread.join();
}
