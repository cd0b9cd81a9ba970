// Only one wait passes under sequential consistency, both may pass under weak memory: found although the second wait
// never passes in any run (example 4.2 of Margalit et al., 2025).
// runs: 1
// case marked: violation wx rx
// case fences -DFENCE: none
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void left(void) {
  atomic_store_explicit(&x, 1, REL); //@wx
#ifdef FENCE
  atomic_thread_fence(SC);
#endif
  RAVELIN_WAIT(&y, 0, ACQ);
}

static void right(void) {
  atomic_store_explicit(&y, 1, REL);
#ifdef FENCE
  atomic_thread_fence(SC);
#endif
  RAVELIN_WAIT(&x, 0, ACQ); //@rx
}

int main(void) { IN_TURNS_LAST_BLOCKS(left, right); }
