// Function statics, thread_local with constructors and destructors, inline variables.
// case c: none
// std: c++17
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex mutex;
static int destroyed;

struct Counted {
  std::vector<int> data{1, 2, 3};
  ~Counted() {
    std::lock_guard<std::mutex> lock(mutex);
    destroyed++;
  }
};

static const std::map<std::string, int> &table() {
  static const std::map<std::string, int> table = {{"one", 1}, {"two", 2}, {"three", 3}};
  return table;
}

static thread_local Counted counted;
inline thread_local std::string name = "a thread that has a rather long name";

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; i++)
    threads.emplace_back([i] {
      if (table().at("two") != 2) std::abort();
      counted.data.push_back(i);
      name += std::to_string(i);
    });
  for (auto &thread : threads) thread.join();
  return destroyed != 6;
}
