//! expect verify: verified
//! expect verify -DBROKEN: violated: stale read
// A stack whose nodes are freed: who reads the top announces that with a hazard pointer and looks again; who has removed
// a node frees it only if nobody announces it. Both sides need a fence between writing and looking. The broken reader has
// none, so both may miss each other, and a node may be read after it was freed.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
  int value;
};

static _Atomic(struct node *) top, hazard;

static void *reader(void *unused) {
  struct node *seen = atomic_load_explicit(&top, memory_order_relaxed);
  if (seen == NULL) return unused;
  atomic_store_explicit(&hazard, seen, memory_order_relaxed);
#ifndef BROKEN
  atomic_thread_fence(memory_order_seq_cst);
#endif
  if (atomic_load_explicit(&top, memory_order_acquire) == seen && seen->value != 42) abort();
  atomic_store_explicit(&hazard, NULL, memory_order_release);
  return unused;
}

int main(void) {
  struct node *node = malloc(sizeof *node);
  if (node == NULL) return 2;
  node->value = 42;
  atomic_store_explicit(&top, node, memory_order_release);
  pthread_t other;
  pthread_create(&other, NULL, reader, NULL);
  atomic_store_explicit(&top, NULL, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  int announced = atomic_load_explicit(&hazard, memory_order_acquire) == node;
  if (!announced) free(node);
  pthread_join(other, NULL);
  if (announced) free(node);
  return 0;
}
