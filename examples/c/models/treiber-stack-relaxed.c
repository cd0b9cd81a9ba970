//! The lock-free stack (Treiber, 1986) that pushes with a relaxed compare-exchange: another thread may pop a node and
//! not see its value.
//! expect check tso: robust
//! expect check rc20: race
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: violated
//! expect fence rc20: 2
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct node {
  struct node *next;
  int value;
};

struct stack {
  _Atomic(struct node *) top;
};

static struct stack stack;
static int popped[2];

static void push(struct stack *s, int value) {
  struct node *node = malloc(sizeof *node);
  if (node == NULL) abort();
  node->value = value;
  node->next = atomic_load_explicit(&s->top, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&s->top, &node->next, node, memory_order_relaxed,
                                                memory_order_relaxed)) {
  }
}

// 0 if the stack is empty.
static int pop(struct stack *s) {
  struct node *node = atomic_load_explicit(&s->top, memory_order_acquire);
  while (node != NULL) {
    if (atomic_compare_exchange_weak_explicit(&s->top, &node, node->next, memory_order_acquire, memory_order_acquire))
      return node->value;
  }
  return 0;
}

static void *worker(void *argument) {
  int me = (int)(long)argument;
  push(&stack, me + 1);
  popped[me] = pop(&stack);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  // Each thread finds a node, and no node is popped twice.
  assert(popped[0] + popped[1] == 3 && popped[0] != 0 && popped[1] != 0);
  return 0;
}
