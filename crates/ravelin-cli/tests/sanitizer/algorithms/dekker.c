// Dekker's mutual exclusion. With release and acquire both threads may enter, and the counter races; a race detector
// that runs the program under sequential consistency sees no race (example 1.1 of Margalit et al., 2025).
// case release-acquire -DW=REL -DR=ACQ: violation, may violation, may race
// case relaxed -DW=RLX -DR=RLX: violation, may violation, race, may race
// case seq-cst -DW=SC -DR=SC: none
// forgets: while it waits
#include <stdatomic.h>
#include "../turns.h"

static atomic_int wants[2], turn;
static int counter;

static void *side(void *argument) {
  long me = (long)argument, other = 1 - me;
  for (int i = 0; i < 300; i++) {
    atomic_store_explicit(&wants[me], 1, W);
    while (atomic_load_explicit(&wants[other], R)) {
      if (atomic_load_explicit(&turn, R) != me) {
        atomic_store_explicit(&wants[me], 0, W);
        while (atomic_load_explicit(&turn, R) != me) sched_yield();
        atomic_store_explicit(&wants[me], 1, W);
      }
    }
    counter++;
    atomic_store_explicit(&turn, (int)other, W);
    atomic_store_explicit(&wants[me], 0, W);
    if (i % 16 == 0) sched_yield();
  }
  // Whoever is done lets the other one pass.
  return 0;
}

int main(void) { at_once(2, side); }
