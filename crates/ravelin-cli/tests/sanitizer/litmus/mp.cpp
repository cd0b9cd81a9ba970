// Message passing in C++, with a plain payload and an atomic flag.
// runs: 1
// case relaxed -DW=relaxed -DR=relaxed: race wx rx
// case release-acquire -DW=release -DR=acquire: none
// case fences -DW=relaxed -DR=relaxed -DFENCE: none
#include <atomic>
#include <string>
#include "../turns.h"
#define ORDER_(order) std::memory_order_##order
#define ORDER(order) ORDER_(order)

static long payload;
std::atomic<bool> ready;

static void left() {
  payload = 42; //@wx
#ifdef FENCE
  std::atomic_thread_fence(std::memory_order_release);
#endif
  ready.store(true, ORDER(W));
}

static void right() {
  if (ready.load(ORDER(R))) {
#ifdef FENCE
    std::atomic_thread_fence(std::memory_order_acquire);
#endif
    if (payload != 42) abort(); //@rx
  }
}

int main() {
  turn_function *functions[] = {left, right};
  in_turns(2, functions, 1);
}
