// A ring buffer between one producer and one consumer. Release and acquire make it correct but not robust: each side
// may think that the ring is full or empty for a little longer.
// case release-acquire -DW=REL -DR=ACQ: may violation
// case fences -DW=REL -DR=ACQ -DFENCE: none
// case seq-cst -DW=SC -DR=SC: none
// case relaxed -DW=RLX -DR=RLX: race, may race, may violation
// forgets: while it waits
#include <stdatomic.h>
#include "../turns.h"
#define SIZE 4
#define N 400

static int slots[SIZE];
static atomic_uint head, tail;

static void full(void) {
#ifdef FENCE
  atomic_thread_fence(SC);
#endif
}

static void *produce(void *unused) {
  for (unsigned i = 0; i < N; i++) {
    while (i - atomic_load_explicit(&head, R) == SIZE) sched_yield();
    slots[i % SIZE] = (int)i;
    atomic_store_explicit(&tail, i + 1, W);
    full();
  }
  return unused;
}

static void *consume(void *unused) {
  for (unsigned i = 0; i < N; i++) {
    while (atomic_load_explicit(&tail, R) == i) sched_yield();
    if (slots[i % SIZE] != (int)i) abort();
    atomic_store_explicit(&head, i + 1, W);
    full();
  }
  return unused;
}

static void *either(void *number) { return number ? consume(0) : produce(0); }

int main(void) { at_once(2, either); }
