// std::future, promise, packaged_task, async, shared_future, exceptions through them.
// case c: none
// std: c++17
#include <cstdlib>
#include <future>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

int main() {
  for (int round = 0; round < 20; round++) {
    std::vector<int> numbers(100, round);
    auto sum = std::async(std::launch::async, [&] { return std::accumulate(numbers.begin(), numbers.end(), 0); });
    if (sum.get() != 100 * round) return 1;

    std::promise<std::string> promise;
    auto future = promise.get_future();
    std::string text;
    std::thread giver([&] {
      text = "given";
      promise.set_value("a string that is too long for the small buffer");
    });
    if (future.get().size() < 10 || text != "given") return 2;
    giver.join();

    std::packaged_task<int(int)> task([](int n) { return n + 1; });
    auto result = task.get_future();
    std::thread runner(std::move(task), round);
    if (result.get() != round + 1) return 3;
    runner.detach();

    auto failing = std::async(std::launch::async, []() -> int { throw std::runtime_error("no"); });
    try {
      failing.get();
      return 4;
    } catch (const std::runtime_error &) {
    }

    std::promise<int> many;
    std::shared_future<int> shared(many.get_future());
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; i++) readers.emplace_back([shared] { if (shared.get() != 9) std::abort(); });
    many.set_value(9);
    for (auto &reader : readers) reader.join();
  }
}
