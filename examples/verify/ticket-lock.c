//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// A ticket lock: threads draw numbers and are served in order. The broken one draws with a load and a store, so two
// threads may have the same number.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int next, serving;
static int counter;

static int draw(void) {
#ifdef BROKEN
  int number = atomic_load_explicit(&next, memory_order_relaxed);
  atomic_store_explicit(&next, number + 1, memory_order_relaxed);
  return number;
#else
  return atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
#endif
}

static void *count(void *unused) {
  int number = draw();
  while (atomic_load_explicit(&serving, memory_order_acquire) < number) {
  }
  counter++;
  atomic_store_explicit(&serving, number + 1, memory_order_release);
  return unused;
}

int main(void) {
  pthread_t others[2];
  for (int i = 0; i < 2; i++) pthread_create(&others[i], NULL, count, NULL);
  count(NULL);
  for (int i = 0; i < 2; i++) pthread_join(others[i], NULL);
  return counter != 3;
}
