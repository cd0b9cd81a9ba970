//! The lock-free queue of Michael and Scott (1996). Two producers append a node each, with memory from malloc, and a
//! consumer tries twice to take one. Nodes are not given back, so no node is used twice.
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
#include <stdlib.h>

typedef struct node {
  int value;
  _Atomic(struct node *) next;
} node_t;

typedef struct {
  _Atomic(node_t *) head;
  _Atomic(node_t *) tail;
} queue_t;

static queue_t queue;
static int taken[2];

static node_t *new_node(int value) {
  node_t *node = malloc(sizeof(node_t));
  if (node == NULL) abort();
  node->value = value;
  atomic_init(&node->next, NULL);
  return node;
}

static void queue_init(queue_t *q) {
  node_t *dummy = new_node(0);
  atomic_init(&q->head, dummy);
  atomic_init(&q->tail, dummy);
}

static void enqueue(queue_t *q, int value) {
  node_t *node = new_node(value);
  node_t *tail;
  while (true) {
    tail = atomic_load_explicit(&q->tail, memory_order_acquire);
    node_t *next = atomic_load_explicit(&tail->next, memory_order_acquire);
    if (next != NULL) {
      // Another producer has linked its node, but not moved the tail yet.
      atomic_compare_exchange_strong_explicit(&q->tail, &tail, next, memory_order_release, memory_order_relaxed);
    } else if (atomic_compare_exchange_strong_explicit(&tail->next, &next, node, memory_order_release,
                                                       memory_order_relaxed)) {
      break;
    }
  }
  atomic_compare_exchange_strong_explicit(&q->tail, &tail, node, memory_order_release, memory_order_relaxed);
}

static bool dequeue(queue_t *q, int *value) {
  while (true) {
    node_t *head = atomic_load_explicit(&q->head, memory_order_acquire);
    node_t *tail = atomic_load_explicit(&q->tail, memory_order_acquire);
    node_t *next = atomic_load_explicit(&head->next, memory_order_acquire);
    if (next == NULL) return false;
    if (head == tail) {
      atomic_compare_exchange_strong_explicit(&q->tail, &tail, next, memory_order_release, memory_order_relaxed);
      continue;
    }
    *value = next->value;
    if (atomic_compare_exchange_strong_explicit(&q->head, &head, next, memory_order_release, memory_order_relaxed))
      return true;
  }
}

static void *producer(void *argument) {
  enqueue(&queue, *(int *)argument);
  return NULL;
}

static void *consumer(void *unused) {
  for (int i = 0; i < 2; i++) {
    int value;
    if (!dequeue(&queue, &value)) continue;
    assert(value == 1 || value == 2);
    taken[i] = value;
  }
  return unused;
}

int main(void) {
  static int values[2] = {1, 2};
  pthread_t threads[3];
  queue_init(&queue);
  pthread_create(&threads[0], NULL, producer, &values[0]);
  pthread_create(&threads[1], NULL, producer, &values[1]);
  pthread_create(&threads[2], NULL, consumer, NULL);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  assert(taken[0] == 0 || taken[0] != taken[1]);
  return 0;
}
