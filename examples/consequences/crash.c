//! expect consequence: crash
// A pointer is published with relaxed stores: the reader that sees the flag may still see no object.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic(int *) object;
static atomic_int ready;

static void *publish(void *unused) {
  static int value = 7;
  atomic_store_explicit(&object, &value, memory_order_relaxed);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t thread;
  int seen = 7;
  pthread_create(&thread, NULL, publish, NULL);
  if (atomic_load_explicit(&ready, memory_order_relaxed)) seen = *atomic_load_explicit(&object, memory_order_relaxed);
  pthread_join(thread, NULL);
  return seen != 7;
}
