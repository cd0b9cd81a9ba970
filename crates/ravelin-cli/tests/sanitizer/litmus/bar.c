// A barrier of two threads that spin on each other's flag (example 4.2 of Margalit et al., 2025): a stale read only
// makes them go round once more.
// case bar: may violation wx rx
// case seq-cst -DW=SC -DR=SC: none
#include <stdatomic.h>
#include "../turns.h"
#ifndef W
#define W REL
#define R ACQ
#endif

atomic_int x, y;

static void *side(void *number) {
  if (number) {
    atomic_store_explicit(&x, 1, W);                        //@wx
    while (atomic_load_explicit(&y, R) == 0) sched_yield(); //@rx
  } else {
    atomic_store_explicit(&y, 1, W);                        //@wx
    while (atomic_load_explicit(&x, R) == 0) sched_yield(); //@rx
  }
  return 0;
}

int main(void) { at_once(2, side); }
