//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// The queue of Michael and Scott, without reuse of nodes. The broken one links a node with a relaxed compare-exchange.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef BROKEN
#define LINK memory_order_relaxed
#else
#define LINK memory_order_release
#endif

struct node {
  _Atomic(struct node *) next;
  int value;
};

static struct node nodes[3];
static _Atomic(struct node *) head = &nodes[0], tail = &nodes[0];

static void enqueue(struct node *mine, int value) {
  mine->value = value;
  for (;;) {
    struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
    struct node *next = atomic_load_explicit(&last->next, memory_order_acquire);
    if (next != NULL) {
      atomic_compare_exchange_strong_explicit(&tail, &last, next, memory_order_release, memory_order_relaxed);
      continue;
    }
    if (atomic_compare_exchange_strong_explicit(&last->next, &next, mine, LINK, memory_order_relaxed)) {
      atomic_compare_exchange_strong_explicit(&tail, &last, mine, memory_order_release, memory_order_relaxed);
      return;
    }
  }
}

static int dequeue(void) {
  for (;;) {
    struct node *first = atomic_load_explicit(&head, memory_order_acquire);
    struct node *next = atomic_load_explicit(&first->next, memory_order_acquire);
    if (next == NULL) return 0;
    int value = next->value;
    if (atomic_compare_exchange_strong_explicit(&head, &first, next, memory_order_acq_rel, memory_order_relaxed))
      return value;
  }
}

static void *producer(void *unused) {
  enqueue(&nodes[1], 2);
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, producer, NULL);
  enqueue(&nodes[2], 1);
  int sum = dequeue();
  pthread_join(other, NULL);
  sum += dequeue();
  return sum != 3;
}
