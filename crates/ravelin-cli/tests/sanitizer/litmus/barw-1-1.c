// The barrier with marked waits: a stale 0 does not let anybody pass, so there is nothing to report.
// case marked: none
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void *side(void *number) {
  atomic_int *mine = number ? &x : &y, *other = number ? &y : &x;
  atomic_store_explicit(mine, 1, REL);
  RAVELIN_WAIT(other, 1, ACQ);
  return 0;
}

int main(void) { at_once(2, side); }
