//! expect consequence: rejoins
//! expect consequence -DEXCHANGE: rejoins
// Retry loops: with a stale value the compare-exchange fails, and the loop reads again.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int count, ready;

static void increment(void) {
  int seen = atomic_load_explicit(&count, memory_order_relaxed);
#ifdef EXCHANGE
  while (!atomic_compare_exchange_strong_explicit(&count, &seen, seen + 1, memory_order_acq_rel, memory_order_relaxed)) {
  }
#else
  while (!atomic_compare_exchange_strong(&count, &seen, seen + 1)) seen = atomic_load(&count);
#endif
}

static void *work(void *unused) {
  increment();
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  if (atomic_load_explicit(&ready, memory_order_relaxed)) increment();
  pthread_join(thread, NULL);
  return 0;
}
