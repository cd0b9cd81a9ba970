// Lamport's bakery with three threads.
// case release-acquire -DW=REL -DR=ACQ: violation, may violation, may race
// case seq-cst -DW=SC -DR=SC: none
// forgets: while it waits
#include <stdatomic.h>
#include "../turns.h"
#define N 3

static atomic_int entering[N], number[N];
static int counter;

static void *customer(void *argument) {
  long me = (long)argument;
  for (int i = 0; i < 100; i++) {
    int most = 0;
    atomic_store_explicit(&entering[me], 1, W);
    for (int j = 0; j < N; j++) {
      int seen = atomic_load_explicit(&number[j], R);
      if (seen > most) most = seen;
    }
    atomic_store_explicit(&number[me], most + 1, W);
    atomic_store_explicit(&entering[me], 0, W);
    for (int j = 0; j < N; j++) {
      while (atomic_load_explicit(&entering[j], R)) sched_yield();
      for (;;) {
        int seen = atomic_load_explicit(&number[j], R);
        if (seen == 0 || seen > most + 1 || (seen == most + 1 && j >= me)) break;
        sched_yield();
      }
    }
    counter++;
    atomic_store_explicit(&number[me], 0, W);
  }
  return 0;
}

int main(void) { at_once(N, customer); }
