// Four threads contend for a spinlock (test and test-and-set) that protects a few plain counters. Argument: how often
// each takes it.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS = 4 };

static long rounds;
static atomic_int taken;
static long counters[8];

static void lock(void) {
  while (atomic_exchange_explicit(&taken, 1, memory_order_acquire)) {
    int looks = 0;
    while (atomic_load_explicit(&taken, memory_order_relaxed))
      if (++looks % 64 == 0) sched_yield();
  }
}

static void *worker(void *argument) {
  for (long i = 0; i < rounds; i++) {
    lock();
    for (int j = 0; j < 8; j++) counters[j] += i & j;
    atomic_store_explicit(&taken, 0, memory_order_release);
  }
  return argument;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  rounds = atol(arguments[1]);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
  return counters[0] != 0;
}
