// Dekker's core in C++, in a class template and a loop.
// case release-acquire -DW=std::memory_order_release -DR=std::memory_order_acquire: violation, may violation, may race
// case seq-cst -DW=std::memory_order_seq_cst -DR=std::memory_order_seq_cst: none
#include <atomic>
#include <thread>

template <typename T> class Flag {
  std::atomic<T> value{};

public:
  void raise() { value.store(1, W); }
  void lower() { value.store(0, W); }
  bool is_up() const { return value.load(R) != 0; }
};

static Flag<short> flags[2];
static long counter;

static void side(int me) {
  for (int i = 0; i < 300; i++) {
    flags[me].raise();
    if (!flags[1 - me].is_up()) counter++;
    flags[me].lower();
    if (i % 16 == 0) std::this_thread::yield();
  }
}

int main() {
  std::thread left(side, 0), right(side, 1);
  left.join();
  right.join();
}
