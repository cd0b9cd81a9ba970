// Two writers of two locations in opposite orders.
// runs: 1
// case relaxed -DW=RLX: violation wx ax
// case release -DW=REL: violation wx ax
// case seq-cst -DW=SC: none
// case fences -DW=RLX -DFENCE: none
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void left(void) {
  atomic_store_explicit(&x, 1, W); //@wx
#ifdef FENCE
  atomic_thread_fence(SC);
#endif
  atomic_store_explicit(&y, 2, W);
}

static void right(void) {
  atomic_store_explicit(&y, 1, W);
#ifdef FENCE
  atomic_thread_fence(SC);
#endif
  atomic_store_explicit(&x, 2, W); //@ax
}

int main(void) { IN_TURNS(left, right); }
