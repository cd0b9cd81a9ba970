// Message passing with release and acquire, as `mp.c` in the manual of GenMC.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif

void __VERIFIER_assume(int);

static atomic_int number;
static atomic_bool published;

static void *sender(void *unused) {
  atomic_store_explicit(&number, 42, memory_order_relaxed);
  atomic_store_explicit(&published, true, PUBLISH);
  return unused;
}

static void *receiver(void *unused) {
  bool seen = atomic_load_explicit(&published, memory_order_acquire);
#ifdef ASSUME
  __VERIFIER_assume(seen);
#endif
  if (seen) assert(atomic_load_explicit(&number, memory_order_relaxed) == 42);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, sender, NULL);
  pthread_create(&threads[1], NULL, receiver, NULL);
  return 0;
}
