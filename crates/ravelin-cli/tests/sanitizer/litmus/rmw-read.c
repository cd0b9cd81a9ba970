// Program (1) of figure 6 of Margalit et al., 2025: the increment may be missed by a load.
// runs: 1
// case c: violation wx rx
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void left(void) {
  atomic_fetch_add_explicit(&x, 1, AR); //@wx
  (void)atomic_load_explicit(&y, ACQ);
}

static void right(void) {
  atomic_store_explicit(&y, 1, REL);
  (void)atomic_load_explicit(&x, ACQ); //@rx
}

int main(void) { IN_TURNS(left, right); }
