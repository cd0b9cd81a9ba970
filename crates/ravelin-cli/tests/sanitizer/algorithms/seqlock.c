// A sequence lock with the usual fences is correct but not robust; with release and acquire data it is robust.
// case fences -DW=RLX -DR=RLX: may violation
// case release-acquire -DW=REL -DR=ACQ: none
// case seq-cst -DW=SC -DR=SC: none
#include <stdatomic.h>
#include "../turns.h"

static atomic_uint sequence;
static atomic_int x, y;

static void *writer(void *unused) {
  for (int i = 1; i <= 200; i++) {
    unsigned seen = atomic_load_explicit(&sequence, RLX);
    atomic_store_explicit(&sequence, seen + 1, W);
    atomic_thread_fence(REL);
    atomic_store_explicit(&x, i, W);
    atomic_store_explicit(&y, i, W);
    atomic_store_explicit(&sequence, seen + 2, W == SC ? SC : REL);
    if (i % 16 == 0) sched_yield();
  }
  return unused;
}

static void *reader(void *unused) {
  for (int i = 0; i < 200; i++) {
    for (;;) {
      unsigned before = atomic_load_explicit(&sequence, R == SC ? SC : ACQ);
      int a = atomic_load_explicit(&x, R), b = atomic_load_explicit(&y, R);
      atomic_thread_fence(ACQ);
      unsigned after = atomic_load_explicit(&sequence, R);
      if (before == after && before % 2 == 0) {
        if (a != b) abort();
        break;
      }
      sched_yield();
    }
  }
  return unused;
}

static void *either(void *number) { return number ? reader(0) : writer(0); }

int main(void) { at_once(3, either); }
