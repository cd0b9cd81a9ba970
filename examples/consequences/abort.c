//! expect consequence: abort
// Message passing with relaxed accesses, and an assertion about the message.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int message, ready;

static void *send(void *unused) {
  atomic_store_explicit(&message, 42, memory_order_relaxed);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, send, NULL);
  if (atomic_load_explicit(&ready, memory_order_relaxed))
    assert(atomic_load_explicit(&message, memory_order_relaxed) == 42);
  pthread_join(thread, NULL);
  return 0;
}
