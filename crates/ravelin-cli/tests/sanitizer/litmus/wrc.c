// Write to read causality. Even a relaxed first load is enough: who reads later, in hb, reads nothing older (coherence).
// runs: 1
// case relaxed -DW=RLX -DR=RLX: violation wx rx
// case release-acquire -DW=REL -DR=ACQ: none
// case relaxed-first-load -DW=REL -DR=ACQ -DFIRST=RLX: none
// case acquire-fence -DW=REL -DR=ACQ -DFIRST=RLX -DFENCE: none
#include <stdatomic.h>
#include "../turns.h"
#ifndef FIRST
#define FIRST R
#endif

atomic_int x, y;

static void one(void) {
  atomic_store_explicit(&x, 1, W); //@wx
}

static void two(void) {
  (void)atomic_load_explicit(&x, FIRST);
#ifdef FENCE
  atomic_thread_fence(ACQ);
#endif
  atomic_store_explicit(&y, 1, W);
}

static void three(void) {
  (void)atomic_load_explicit(&y, R);
  (void)atomic_load_explicit(&x, R); //@rx
}

int main(void) { IN_TURNS(one, two, three); }
