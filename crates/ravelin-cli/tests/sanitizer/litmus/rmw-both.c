// Increments on both sides of store buffering cannot miss each other, not even relaxed ones; a plain store can be
// missed by an increment.
// runs: 1
// case increments: none
// case store -DSTORE: violation wx ux
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void left(void) {
#ifdef STORE
  atomic_store_explicit(&x, 1, RLX); //@wx
#else
  atomic_fetch_add_explicit(&x, 1, RLX);
#endif
  atomic_fetch_add_explicit(&y, 1, RLX);
}

static void right(void) {
  atomic_fetch_add_explicit(&y, 1, RLX);
  atomic_fetch_add_explicit(&x, 1, RLX); //@ux
}

int main(void) { IN_TURNS(left, right); }
