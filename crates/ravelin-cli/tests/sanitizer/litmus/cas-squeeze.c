// An increment is missed by a weak compare-exchange, which may fail spuriously; a strong one that reads the value
// from before the increment would have to succeed, and then it would squeeze in between.
// runs: 1
// case strong -DCAS=RAVELIN_CAS_STRONG: none
// case weak -DCAS=RAVELIN_CAS_WEAK: violation wx ux
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void left(void) {
  atomic_fetch_add_explicit(&x, 1, REL); //@wx
  (void)atomic_load_explicit(&y, ACQ);
}

static void right(void) {
  int expected = 0;
  atomic_store_explicit(&y, 1, REL);
  (void)CAS(&x, &expected, 2, AR, ACQ); //@ux
}

int main(void) { IN_TURNS(left, right); }
