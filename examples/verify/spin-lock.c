//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// A test-and-set lock around a counter. Without acquire the critical section does not see what the one before it did.
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define ACQUIRE memory_order_relaxed
#else
#define ACQUIRE memory_order_acquire
#endif

static atomic_flag lock = ATOMIC_FLAG_INIT;
static int counter;

static void *count(void *unused) {
  while (atomic_flag_test_and_set_explicit(&lock, ACQUIRE)) {
  }
  counter++;
  atomic_flag_clear_explicit(&lock, memory_order_release);
  return unused;
}

int main(void) {
  pthread_t others[2];
  for (int i = 0; i < 2; i++) pthread_create(&others[i], NULL, count, NULL);
  count(NULL);
  for (int i = 0; i < 2; i++) pthread_join(others[i], NULL);
  return counter != 3;
}
