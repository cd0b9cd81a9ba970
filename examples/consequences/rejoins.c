//! expect consequence: rejoins
// A first look without order, and a second one that is certain: the fast path of many algorithms.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int value, ready, copy;

static void *publish(void *unused) {
  atomic_store_explicit(&value, 1, memory_order_relaxed);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, publish, NULL);
  if (atomic_load_explicit(&ready, memory_order_relaxed)) {
    int seen = atomic_load_explicit(&value, memory_order_relaxed);
    if (!seen) seen = atomic_load(&value);
    atomic_store_explicit(&copy, seen, memory_order_relaxed);
  }
  pthread_join(thread, NULL);
  return 0;
}
