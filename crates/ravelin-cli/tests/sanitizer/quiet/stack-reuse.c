// Atomics and plain variables on the stack are shared with other threads, joined, and their frames used again.
// case c: none
#include <stdatomic.h>
#include "../turns.h"

static void *increment(void *argument) {
  atomic_fetch_add_explicit((atomic_int *)argument, 1, RLX);
  return 0;
}

static void *add(void *argument) {
  (*(int *)argument)++;
  return 0;
}

static __attribute__((noinline)) int with_atomic(void) {
  atomic_int here = 0;
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, increment, &here);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return atomic_load_explicit(&here, RLX);
}

static __attribute__((noinline)) int with_plain(void) {
  int here[4] = {0};
  pthread_t thread;
  pthread_create(&thread, 0, add, &here[1]);
  here[2]++;
  pthread_join(thread, 0);
  return here[1] + here[2];
}

static void *nested(void *unused) {
  for (int i = 0; i < 30; i++)
    if (with_atomic() != 2 || with_plain() != 2) abort();
  return unused;
}

int main(void) {
  nested(0);
  at_once(3, nested);
}
