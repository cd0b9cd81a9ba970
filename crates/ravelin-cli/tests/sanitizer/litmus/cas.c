// A compare-exchange that would read a stale value: a strong one can only fail where the value differs, a blocking one
// is no event until it succeeds, and a successful one never misses a read-modify-write.
// runs: 1
// case strong-expects-old -DCAS=RAVELIN_CAS_STRONG -DEXPECTED=0: violation wx ux
// case strong-expects-new -DCAS=RAVELIN_CAS_STRONG -DEXPECTED=1: violation wx ux
// case weak -DCAS=RAVELIN_CAS_WEAK -DEXPECTED=7: violation wx ux
// case blocking -DBLOCKING: none
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void left(void) {
  atomic_store_explicit(&x, 1, REL); //@wx
  (void)atomic_load_explicit(&y, ACQ);
}

static void right(void) {
  atomic_store_explicit(&y, 1, REL);
#ifdef BLOCKING
  RAVELIN_BCAS(&x, 1, 2, AR);
#else
  int expected = EXPECTED;
  (void)CAS(&x, &expected, 2, AR, ACQ); //@ux
#endif
}

int main(void) { IN_TURNS(left, right); }
