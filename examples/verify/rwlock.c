//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// A read-write lock in one word: the number of readers, or -1 for a writer. The broken one lets readers leave without
// release, so a writer may overwrite what they still read.
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define LEAVE memory_order_relaxed
#else
#define LEAVE memory_order_release
#endif

static atomic_int state;
static int value;

static void *reader(void *unused) {
  for (;;) {
    int readers = atomic_load_explicit(&state, memory_order_relaxed);
    if (readers >= 0 && atomic_compare_exchange_strong_explicit(&state, &readers, readers + 1, memory_order_acquire,
                                                                memory_order_relaxed))
      break;
  }
  (void)*(volatile int *)&value;
  atomic_fetch_sub_explicit(&state, 1, LEAVE);
  return unused;
}

static void *writer(void *unused) {
  for (;;) {
    int none = 0;
    if (atomic_compare_exchange_strong_explicit(&state, &none, -1, memory_order_acquire, memory_order_relaxed)) break;
  }
  value++;
  atomic_store_explicit(&state, 0, memory_order_release);
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, writer, NULL);
  reader(NULL);
  pthread_join(other, NULL);
  return value != 1;
}
