// Load buffering: forbidden, because no value comes out of thin air.
// runs: 1
// case relaxed: none
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void left(void) {
  (void)atomic_load_explicit(&x, RLX);
  atomic_store_explicit(&y, 1, RLX);
}

static void right(void) {
  (void)atomic_load_explicit(&y, RLX);
  atomic_store_explicit(&x, 1, RLX);
}

int main(void) { IN_TURNS(left, right); }
