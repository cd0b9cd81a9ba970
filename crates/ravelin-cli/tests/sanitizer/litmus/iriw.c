// Independent reads of independent writes: two readers may disagree about the order of two writes.
// runs: 1
// case acquire -DW=REL -DR=ACQ: violation wx rx
// case relaxed -DW=RLX -DR=RLX: violation wx rx
// case seq-cst -DW=SC -DR=SC: none
// case seq-cst-stores -DW=SC -DR=ACQ: violation wx rx
// case fences -DW=RLX -DR=RLX -DFENCE: none
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void write_x(void) {
  atomic_store_explicit(&x, 1, W); //@wx
}

static void read_x_y(void) {
  (void)atomic_load_explicit(&x, R);
#ifdef FENCE
  atomic_thread_fence(SC);
#endif
  (void)atomic_load_explicit(&y, R);
}

static void write_y(void) { atomic_store_explicit(&y, 1, W); }

static void read_y_x(void) {
  (void)atomic_load_explicit(&y, R);
#ifdef FENCE
  atomic_thread_fence(SC);
#endif
  (void)atomic_load_explicit(&x, R); //@rx
}

int main(void) { IN_TURNS(write_x, read_x_y, write_y, read_y_x); }
