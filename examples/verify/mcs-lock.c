//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// The queue lock of Mellor-Crummey and Scott: each thread waits for a flag of its own. The broken one hands over with a
// relaxed store.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef BROKEN
#define HAND_OVER memory_order_relaxed
#else
#define HAND_OVER memory_order_release
#endif

struct node {
  _Atomic(struct node *) next;
  atomic_int waits;
};

static _Atomic(struct node *) tail;
static struct node nodes[2];
static int counter;

static void lock(struct node *mine) {
  atomic_store_explicit(&mine->next, NULL, memory_order_relaxed);
  atomic_store_explicit(&mine->waits, 1, memory_order_relaxed);
  struct node *before = atomic_exchange_explicit(&tail, mine, memory_order_acq_rel);
  if (before == NULL) return;
  atomic_store_explicit(&before->next, mine, memory_order_release);
  while (atomic_load_explicit(&mine->waits, memory_order_acquire)) {
  }
}

static void unlock(struct node *mine) {
  struct node *next = atomic_load_explicit(&mine->next, memory_order_acquire);
  if (next == NULL) {
    struct node *expected = mine;
    if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL, memory_order_release, memory_order_relaxed))
      return;
    while ((next = atomic_load_explicit(&mine->next, memory_order_acquire)) == NULL) {
    }
  }
  atomic_store_explicit(&next->waits, 0, HAND_OVER);
}

static void *count(void *argument) {
  struct node *mine = argument;
  lock(mine);
  counter++;
  unlock(mine);
  return NULL;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, count, &nodes[1]);
  count(&nodes[0]);
  pthread_join(other, NULL);
  return counter != 2;
}
