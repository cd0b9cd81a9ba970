//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// Treiber's stack. Nodes are not reused, so there is no ABA problem. The broken one pushes with a relaxed
// compare-exchange: who pops a node may read it before it was written.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef BROKEN
#define PUSH memory_order_relaxed
#else
#define PUSH memory_order_release
#endif

struct node {
  struct node *next;
  int value;
};

static _Atomic(struct node *) top;
static struct node nodes[2];

static void push(struct node *mine, int value) {
  struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
  mine->value = value;
  do {
    mine->next = old;
  } while (!atomic_compare_exchange_strong_explicit(&top, &old, mine, PUSH, memory_order_relaxed));
}

static int pop(void) {
  struct node *old = atomic_load_explicit(&top, memory_order_acquire);
  while (old != NULL && !atomic_compare_exchange_strong_explicit(&top, &old, old->next, memory_order_acquire,
                                                                 memory_order_acquire)) {
  }
  return old == NULL ? 0 : old->value;
}

static void *pusher(void *unused) {
  push(&nodes[1], 2);
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, pusher, NULL);
  push(&nodes[0], 1);
  int sum = pop();
  pthread_join(other, NULL);
  sum += pop();
  return sum != 3;
}
