// Store buffering, the left thread first.
// runs: 1
// case relaxed -DW=RLX -DR=RLX: violation wx rx
// case release-acquire -DW=REL -DR=ACQ: violation wx rx
// case seq-cst -DW=SC -DR=SC: none
// case seq-cst-fences -DW=RLX -DR=RLX -DLEFT=SC -DRIGHT=SC: none
// case left-fence -DW=RLX -DR=RLX -DLEFT=SC: violation wx rx
// case right-fence -DW=RLX -DR=RLX -DRIGHT=SC: violation wx rx
// case weak-fences -DW=RLX -DR=RLX -DLEFT=AR -DRIGHT=AR: violation wx rx
// case seq-cst-loads -DW=REL -DR=SC: violation wx rx
// case seq-cst-stores -DW=SC -DR=ACQ: may violation wx rx
// case no-predict -DW=RLX -DR=RLX | --no-predict: violation wx rx
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void left(void) {
  atomic_store_explicit(&x, 1, W); //@wx
#ifdef LEFT
  atomic_thread_fence(LEFT);
#endif
  (void)atomic_load_explicit(&y, R);
}

static void right(void) {
  atomic_store_explicit(&y, 1, W);
#ifdef RIGHT
  atomic_thread_fence(RIGHT);
#endif
  (void)atomic_load_explicit(&x, R); //@rx
}

int main(void) { IN_TURNS(left, right); }
