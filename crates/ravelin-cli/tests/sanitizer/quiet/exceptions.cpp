// Exceptions and longjmp leave frames in threads without returning from them.
// case c: none
#include <csetjmp>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

static std::mutex mutex;
static int counter;

static __attribute__((noinline)) void deep(int levels) {
  if (levels == 0) throw std::runtime_error("up");
  std::lock_guard<std::mutex> lock(mutex);
  counter++;
  if (levels == 1) throw std::runtime_error("up");
}

static __attribute__((noinline)) void jump(std::jmp_buf &target, int levels) {
  if (levels == 0) std::longjmp(target, 1);
  jump(target, levels - 1);
}

static void worker() {
  for (volatile int i = 0; i < 3000; i = i + 1) {
    try {
      deep(i % 2);
    } catch (const std::exception &) {
    }
    std::jmp_buf target;
    if (setjmp(target) == 0) jump(target, 50);
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back(worker);
  for (auto &thread : threads) thread.join();
}
