// Message passing with a payload that is not atomic.
// runs: 1
// case relaxed -DW=RLX -DR=RLX: race wx rx
// case release-relaxed -DW=REL -DR=RLX: race wx rx
// case relaxed-acquire -DW=RLX -DR=ACQ: race wx rx
// case release-acquire -DW=REL -DR=ACQ: none
// case seq-cst -DW=SC -DR=SC: none
// case fences -DW=RLX -DR=RLX -DLEFT=REL -DRIGHT=ACQ: none
// case seq-cst-fences -DW=RLX -DR=RLX -DLEFT=SC -DRIGHT=SC: none
// case release-fence-only -DW=RLX -DR=RLX -DLEFT=REL: race wx rx
#include <stdatomic.h>
#include "../turns.h"

static int payload;
atomic_int ready;

static void left(void) {
  payload = 42; //@wx
#ifdef LEFT
  atomic_thread_fence(LEFT);
#endif
  atomic_store_explicit(&ready, 1, W);
}

static void right(void) {
  if (atomic_load_explicit(&ready, R) == 1) {
#ifdef RIGHT
    atomic_thread_fence(RIGHT);
#endif
    if (payload != 42) abort(); //@rx
  }
}

int main(void) { IN_TURNS(left, right); }
