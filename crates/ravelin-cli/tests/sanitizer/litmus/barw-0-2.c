// Waits for values that no stale write holds: nobody passes who should not (example 4.2 of Margalit et al., 2025).
// runs: 1
// case marked: none
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void left(void) {
  atomic_store_explicit(&x, 1, REL);
  RAVELIN_WAIT(&y, 0, ACQ);
}

static void right(void) {
  atomic_store_explicit(&y, 1, REL);
  RAVELIN_WAIT(&x, 2, ACQ);
}

int main(void) { IN_TURNS_LAST_BLOCKS(left, right); }
