// Store buffering with a second store (example 3.1 of Margalit et al., 2025). Under sequential consistency the stale
// read is seen directly only in a run that switches threads in the middle; location clocks predict it from every run.
// runs: 1
// case predict: violation wx rx
// case no-predict | --no-predict: none
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void left(void) {
  atomic_store_explicit(&x, 1, REL); //@wx
  (void)atomic_load_explicit(&y, ACQ);
  atomic_store_explicit(&x, 2, REL);
}

static void right(void) {
  atomic_store_explicit(&y, 1, REL);
  (void)atomic_load_explicit(&x, ACQ); //@rx
  atomic_store_explicit(&y, 2, REL);
}

int main(void) { IN_TURNS(left, right); }
