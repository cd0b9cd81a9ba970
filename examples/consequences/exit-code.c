//! expect consequence: exit-code
// A result that only the exit code shows.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int sum, ready;

static void *add(void *unused) {
  atomic_store_explicit(&sum, 12, memory_order_relaxed);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t thread;
  int result = 0;
  pthread_create(&thread, NULL, add, NULL);
  if (atomic_load_explicit(&ready, memory_order_relaxed))
    result = atomic_load_explicit(&sum, memory_order_relaxed) == 12 ? 0 : 5;
  pthread_join(thread, NULL);
  return result;
}
