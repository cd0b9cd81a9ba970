// Store buffering in C++.
// runs: 1
// case release-acquire -DW=release -DR=acquire: violation wx rx
// case seq-cst -DW=seq_cst -DR=seq_cst: none
// case fences -DW=relaxed -DR=relaxed -DFENCE: none
#include <atomic>
#include "../turns.h"
#define ORDER_(order) std::memory_order_##order
#define ORDER(order) ORDER_(order)

std::atomic<long> x, y;

static void left() {
  x.store(1, ORDER(W)); //@wx
#ifdef FENCE
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  (void)y.load(ORDER(R));
}

static void right() {
  y.store(1, ORDER(W));
#ifdef FENCE
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  (void)x.load(ORDER(R)); //@rx
}

int main() {
  turn_function *functions[] = {left, right};
  in_turns(2, functions, 1);
}
