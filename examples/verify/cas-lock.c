//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// A test-and-test-and-set lock with compare-exchange. The broken one unlocks with a relaxed store.
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif

static atomic_int locked;
static int counter;

static void *count(void *unused) {
  for (;;) {
    while (atomic_load_explicit(&locked, memory_order_relaxed)) {
    }
    int expected = 0;
    if (atomic_compare_exchange_strong_explicit(&locked, &expected, 1, memory_order_acquire, memory_order_relaxed))
      break;
  }
  counter++;
  atomic_store_explicit(&locked, 0, RELEASE);
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, count, NULL);
  count(NULL);
  pthread_join(other, NULL);
  return counter != 2;
}
