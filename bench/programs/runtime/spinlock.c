// Four threads contend for a spinlock (test and test-and-set) that protects a few plain counters.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 400000 };

static atomic_int taken;
static long counters[8];

static void lock(void) {
  while (atomic_exchange_explicit(&taken, 1, memory_order_acquire)) {
    int rounds = 0;
    while (atomic_load_explicit(&taken, memory_order_relaxed))
      if (++rounds % 64 == 0) sched_yield();
  }
}

static void *worker(void *argument) {
  for (int i = 0; i < ROUNDS; i++) {
    lock();
    for (int j = 0; j < 8; j++) counters[j] += i & j;
    atomic_store_explicit(&taken, 0, memory_order_release);
  }
  return argument;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
  return counters[0] != 0;
}
