// Memory does not grow with the length of the run, which the program measures itself. The relaxed update keeps it from
// being robust whatever the other orders are: a player that waits in vain goes on.
// case relaxed -DW=RLX -DR=RLX: may violation
// case release -DW=REL -DR=ACQ: may violation
// case seq-cst -DW=SC -DR=SC: may violation
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include "../turns.h"

static atomic_int ball, other;

// Two threads hand a ball to each other and write something else in between.
static void *play(void *argument) {
  int me = (int)(long)argument;
  for (int round = 0; round < 20000; round++) {
    for (int spins = 0; atomic_load_explicit(&ball, R) != me && spins < 1000; spins++) sched_yield();
    atomic_store_explicit(&other, round, W);
    atomic_fetch_add_explicit(&other, 1, memory_order_relaxed);
    atomic_store_explicit(&ball, 1 - me, W);
  }
  return 0;
}

static long peak(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int main(void) {
  at_once(2, play);
  long before = peak();
  for (int i = 0; i < 5; i++) at_once(2, play);
  long grown = peak() - before;
  if (grown > 10000) {
    fprintf(stderr, "%ld KB more\n", grown);
    return 3;
  }
}
