// Message passing between atomics.
// runs: 1
// case relaxed -DW=RLX -DR=RLX: violation wx rx
// case release-relaxed -DW=REL -DR=RLX: violation wx rx
// case relaxed-acquire -DW=RLX -DR=ACQ: violation wx rx
// case release-acquire -DW=REL -DR=ACQ: none
// case seq-cst -DW=SC -DR=SC: none
// case fences -DW=RLX -DR=RLX -DLEFT=REL -DRIGHT=ACQ: none
// case seq-cst-fences -DW=RLX -DR=RLX -DLEFT=SC -DRIGHT=SC: none
// case release-fence-only -DW=RLX -DR=RLX -DLEFT=REL: violation wx rx
// case acquire-fence-only -DW=RLX -DR=RLX -DRIGHT=ACQ: violation wx rx
// case release-fence-acquire-load -DW=RLX -DR=ACQ -DLEFT=REL: none
// case release-store-acquire-fence -DW=REL -DR=RLX -DRIGHT=ACQ: none
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void left(void) {
  atomic_store_explicit(&x, 1, RLX); //@wx
#ifdef LEFT
  atomic_thread_fence(LEFT);
#endif
  atomic_store_explicit(&y, 1, W);
}

static void right(void) {
  (void)atomic_load_explicit(&y, R);
#ifdef RIGHT
  atomic_thread_fence(RIGHT);
#endif
  (void)atomic_load_explicit(&x, RLX); //@rx
}

int main(void) { IN_TURNS(left, right); }
