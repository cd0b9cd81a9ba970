//! The queue lock of Mellor-Crummey and Scott (1991): a thread waits on a flag in its own node, and its predecessor
//! clears that flag. Two threads take the lock twice with the same node.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct mcs_node {
  _Atomic(struct mcs_node *) next;
  atomic_bool locked;
};

struct mcs_lock {
  _Atomic(struct mcs_node *) tail;
};

enum { THREADS = 2, ROUNDS = 2 };

static struct mcs_lock lock;
static struct mcs_node nodes[THREADS];
static int counter;

static void mcs_acquire(struct mcs_lock *l, struct mcs_node *me) {
  atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
  struct mcs_node *before = atomic_exchange_explicit(&l->tail, me, memory_order_acq_rel);
  if (before == NULL) return;
  atomic_store_explicit(&me->locked, true, memory_order_relaxed);
  atomic_store_explicit(&before->next, me, memory_order_release);
  while (atomic_load_explicit(&me->locked, memory_order_acquire)) {
  }
}

static void mcs_release(struct mcs_lock *l, struct mcs_node *me) {
  struct mcs_node *next = atomic_load_explicit(&me->next, memory_order_acquire);
  if (next == NULL) {
    struct mcs_node *expected = me;
    if (atomic_compare_exchange_strong_explicit(&l->tail, &expected, NULL, memory_order_release, memory_order_relaxed))
      return;
    // Another thread is in the queue, but has not linked its node yet.
    do {
      next = atomic_load_explicit(&me->next, memory_order_acquire);
    } while (next == NULL);
  }
  atomic_store_explicit(&next->locked, false, memory_order_release);
}

static void *worker(void *argument) {
  struct mcs_node *me = argument;
  for (int round = 0; round < ROUNDS; round++) {
    mcs_acquire(&lock, me);
    counter++;
    mcs_release(&lock, me);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, worker, &nodes[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  assert(counter == THREADS * ROUNDS);
  return 0;
}
