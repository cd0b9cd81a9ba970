//! expect consequence: standstill
// With the stale value a thread goes round a loop for ever in which it makes no step that others can see.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int step, ready;

static void *publish(void *unused) {
  atomic_store_explicit(&step, 1, memory_order_relaxed);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t thread;
  volatile int at = 0;
  pthread_create(&thread, NULL, publish, NULL);
  if (atomic_load_explicit(&ready, memory_order_relaxed)) {
    int wide = atomic_load_explicit(&step, memory_order_relaxed);
    while (at < 10) at += wide;
  }
  pthread_join(thread, NULL);
  return 0;
}
