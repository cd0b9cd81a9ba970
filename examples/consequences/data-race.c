//! expect consequence: data-race
// With the newest value the reader is ordered after the write; with the stale one it is not, and reads nevertheless.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int published, ready;
static int plain;

static void *publish(void *unused) {
  plain = 1;
  atomic_store_explicit(&published, 1, memory_order_release);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t thread;
  int result = 0;
  pthread_create(&thread, NULL, publish, NULL);
  if (atomic_load_explicit(&ready, memory_order_relaxed)) {
    if (atomic_load_explicit(&published, memory_order_acquire))
      result = plain - 1;
    else
      result = plain == 12345;
  }
  pthread_join(thread, NULL);
  return result;
}
