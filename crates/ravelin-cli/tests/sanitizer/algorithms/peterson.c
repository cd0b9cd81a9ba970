// Peterson's mutual exclusion.
// case release-acquire -DW=REL -DR=ACQ: violation, may violation, may race
// case seq-cst -DW=SC -DR=SC: none
// forgets: while it waits
#include <stdatomic.h>
#include "../turns.h"

static atomic_int wants[2], last;
static int counter;

static void *side(void *argument) {
  long me = (long)argument, other = 1 - me;
  for (int i = 0; i < 300; i++) {
    atomic_store_explicit(&wants[me], 1, W);
    atomic_store_explicit(&last, (int)me, W);
    while (atomic_load_explicit(&wants[other], R) && atomic_load_explicit(&last, R) == me) sched_yield();
    counter++;
    atomic_store_explicit(&wants[me], 0, W);
  }
  return 0;
}

int main(void) { at_once(2, side); }
