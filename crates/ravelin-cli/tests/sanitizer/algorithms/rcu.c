// Read, copy, update with quiescent states: the writer reuses the old container when every reader has let go of it.
// case release-acquire -DW=REL -DR=ACQ: none
// case relaxed-quiescence -DW=REL -DR=ACQ -DQ=RLX: race, may race, may violation
// forgets: while it waits
#include <stdatomic.h>
#include "../turns.h"
#ifndef Q
#define Q W
#endif
#define READERS 2

static int containers[2] = {1, 0};
static atomic_int current, epoch, seen[READERS];

static void *writer(void *unused) {
  int fresh = 1;
  for (int i = 0; i < 50; i++) {
    containers[fresh] = 1;
    atomic_store_explicit(&current, fresh, W);
    atomic_store_explicit(&epoch, fresh, W);
    for (int r = 0; r < READERS; r++) RAVELIN_WAIT(&seen[r], fresh, R);
    fresh = 1 - fresh;
    containers[fresh] = 0;
  }
  // The readers leave when they see this.
  atomic_store_explicit(&epoch, 2, W);
  return unused;
}

static void *thread(void *number) {
  if (!number) return writer(0);
  atomic_int *mine = &seen[(long)number - 1];
  for (;;) {
    if (containers[atomic_load_explicit(&current, R)] != 1) abort();
    int now = atomic_load_explicit(&epoch, R);
    if (now == 2) return 0;
    atomic_store_explicit(mine, now, Q);
    sched_yield();
  }
}

int main(void) { at_once(1 + READERS, thread); }
