// A home-made once: whoever comes late waits for the one who initialises.
// case right -DW=REL -DR=ACQ: none
// case relaxed-wait -DW=REL -DR=RLX: race fill use
// forgets: while it waits
#include <stdatomic.h>
#include "../turns.h"

static atomic_int state; // 0 new, 1 somebody is at it, 2 done
static int value;

static void *use(void *unused) {
  int expected = 0;
  if (RAVELIN_CAS_STRONG(&state, &expected, 1, RLX, RLX)) {
    value = 7; //@fill
    atomic_store_explicit(&state, 2, W);
  } else {
    RAVELIN_WAIT(&state, 2, R);
  }
  if (value != 7) abort(); //@use
  return unused;
}

int main(void) { at_once(3, use); }
