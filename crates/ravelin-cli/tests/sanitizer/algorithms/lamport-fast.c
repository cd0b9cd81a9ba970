// The second algorithm of Lamport's fast mutual exclusion, with marked waits.
// case release-acquire: violation, may violation, may race
// case fences -DFENCE: none
// case seq-cst -DW=SC -DR=SC: none
// forgets: while it waits
#include <stdatomic.h>
#include "../turns.h"
#ifndef W
#define W REL
#define R ACQ
#endif
#ifdef FENCE
#define FULL() atomic_thread_fence(SC)
#else
#define FULL() (void)0
#endif
#define N 2

static atomic_int trying[N + 1], x, y;
static int data;

static void *one(void *argument) {
  int me = (int)(long)argument + 1;
  for (int i = 0; i < 100; i++) {
  again:
    atomic_store_explicit(&trying[me], 1, W);
    FULL();
    atomic_store_explicit(&x, me, W);
    FULL();
    if (atomic_load_explicit(&y, R) != 0) {
      atomic_store_explicit(&trying[me], 0, W);
      RAVELIN_WAIT(&y, 0, R);
      goto again;
    }
    atomic_store_explicit(&y, me, W);
    FULL();
    int last = atomic_load_explicit(&x, R);
    FULL();
    if (last != me) {
      atomic_store_explicit(&trying[me], 0, W);
      for (int j = 1; j <= N; j++) {
        RAVELIN_WAIT(&trying[j], 0, R);
        FULL();
      }
      if (atomic_load_explicit(&y, R) != me) {
        RAVELIN_WAIT(&y, 0, R);
        goto again;
      }
    }
    data++;
    atomic_store_explicit(&y, 0, W);
    atomic_store_explicit(&trying[me], 0, W);
  }
  return 0;
}

int main(void) { at_once(N, one); }
