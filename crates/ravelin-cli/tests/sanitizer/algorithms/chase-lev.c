// The work-stealing deque of Chase and Lev without growth: an owner that pushes and pops, two thieves. The slots are
// atomic, as in Lê et al., 2013.
// case fences -DFENCE -DW=REL -DR=ACQ -DU=AR: may violation slot slot
// case no-fences -DW=REL -DR=ACQ -DU=AR: violation, may violation, may race
// case seq-cst -DW=SC -DR=SC -DU=SC: none
// forgets: while it waits
#include <stdatomic.h>
#include <stdbool.h>
#include "../turns.h"
#define SIZE 1024
#define N 300

static atomic_long top, bottom;
static atomic_int slots[SIZE];
static int taken[N];

static void full(void) {
#ifdef FENCE
  atomic_thread_fence(SC);
#endif
}

static void take(int task) { taken[task]++; }

static void push(int task) {
  long b = atomic_load_explicit(&bottom, W == SC ? SC : RLX);
  atomic_store_explicit(&slots[b % SIZE], task, W); //@slot
  atomic_store_explicit(&bottom, b + 1, W);
}

static void pop(void) {
  long b = atomic_load_explicit(&bottom, W == SC ? SC : RLX) - 1;
  atomic_store_explicit(&bottom, b, W);
  full();
  long t = atomic_load_explicit(&top, R);
  if (b < t) {
    atomic_store_explicit(&bottom, t, W);
    return;
  }
  int task = atomic_load_explicit(&slots[b % SIZE], R);
  if (b == t) {
    bool mine = RAVELIN_CAS_STRONG(&top, &t, t + 1, U, R);
    atomic_store_explicit(&bottom, b + 1, W);
    if (!mine) return;
  }
  take(task);
}

static void steal(void) {
  long t = atomic_load_explicit(&top, R);
  full();
  long b = atomic_load_explicit(&bottom, R);
  if (t >= b) return;
  int task = atomic_load_explicit(&slots[t % SIZE], R); //@slot
  if (RAVELIN_CAS_STRONG(&top, &t, t + 1, U, R)) take(task);
}

static void *worker(void *number) {
  if (!number) {
    for (int i = 0; i < N; i++) {
      push(i);
      if (i % 3) pop();
      if (i % 8 == 0) sched_yield();
    }
  } else {
    for (int i = 0; i < N; i++) {
      steal();
      if (i % 8 == 0) sched_yield();
    }
  }
  return 0;
}

int main(void) { at_once(3, worker); }
