// Program (2) of figure 6 of Margalit et al., 2025: no store fits between an increment and what it read. With a store
// in place of the increment it does (the shape R).
// runs: 1
// case increment: none
// case exchange -DEXCHANGE: none
// case store -DSTORE: violation wx ax
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void left(void) {
#if defined(STORE)
  atomic_store_explicit(&x, 1, REL); //@wx
#elif defined(EXCHANGE)
  (void)atomic_exchange_explicit(&x, 1, AR);
#else
  atomic_fetch_add_explicit(&x, 1, AR);
#endif
  (void)atomic_load_explicit(&y, ACQ);
}

static void right(void) {
  atomic_store_explicit(&y, 1, REL);
  atomic_store_explicit(&x, 2, REL); //@ax
}

int main(void) { IN_TURNS(left, right); }
