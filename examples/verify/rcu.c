//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// A sketch of read-copy-update: the writer publishes a new version, waits until no reader is in its critical section, and
// frees the old one. The broken writer does not wait.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) current;
static atomic_int reading;

static void *reader(void *result) {
  atomic_store_explicit(&reading, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  *(int *)result = *atomic_load_explicit(&current, memory_order_acquire);
  atomic_store_explicit(&reading, 0, memory_order_release);
  return NULL;
}

static int *version(int value) {
  int *new = malloc(sizeof *new);
  if (new == NULL) exit(2);
  *new = value;
  return new;
}

int main(void) {
  int *old = version(1), seen = 0;
  atomic_store_explicit(&current, old, memory_order_release);
  pthread_t other;
  pthread_create(&other, NULL, reader, &seen);
  int *new = version(2);
  atomic_store_explicit(&current, new, memory_order_release);
#ifndef BROKEN
  atomic_thread_fence(memory_order_seq_cst);
  while (atomic_load_explicit(&reading, memory_order_acquire)) {
  }
#endif
  free(old);
  pthread_join(other, NULL);
  free(new);
  return seen != 1 && seen != 2;
}
