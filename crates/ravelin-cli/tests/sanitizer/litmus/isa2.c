// Causality over three threads and three locations; and a seq_cst fence pair at the ends only.
// runs: 1
// case release-acquire -DW=REL -DR=ACQ: none
// case relaxed -DW=RLX -DR=RLX: violation wx rx
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y, z;

static void one(void) {
  atomic_store_explicit(&x, 1, RLX); //@wx
  atomic_store_explicit(&y, 1, W);
}

static void two(void) {
  (void)atomic_load_explicit(&y, R);
  atomic_store_explicit(&z, 1, W);
}

static void three(void) {
  (void)atomic_load_explicit(&z, R);
  (void)atomic_load_explicit(&x, RLX); //@rx
}

int main(void) { IN_TURNS(one, two, three); }
