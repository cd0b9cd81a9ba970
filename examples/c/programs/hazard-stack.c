//! A stack whose nodes are freed, with one hazard pointer (Michael, 2004). A thread that takes a node announces it first,
//! and the thread that frees nodes leaves an announced one alone.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct node {
  struct node *next;
  int value;
};

static _Atomic(struct node *) top;
// What the careful thread is looking at.
static _Atomic(struct node *) hazard;

static void push(int value) {
  struct node *node = malloc(sizeof *node);
  if (node == NULL) abort();
  node->value = value;
  node->next = atomic_load(&top);
  while (!atomic_compare_exchange_strong(&top, &node->next, node)) {
  }
}

// Of the thread that frees nodes: no other one does, so it can look at nodes without care.
static struct node *pop(void) {
  struct node *node = atomic_load(&top);
  while (node != NULL && !atomic_compare_exchange_strong(&top, &node, node->next)) {
  }
  return node;
}

static void give_back(struct node *node) {
  if (node != NULL && atomic_load(&hazard) != node) free(node);
}

static void *owner(void *unused) {
  struct node *first = pop();
  struct node *second = pop();
  give_back(first);
  push(3);
  give_back(second);
  return unused;
}

static void *careful(void *unused) {
  for (;;) {
    struct node *node = atomic_load(&top);
    if (node == NULL) break;
    atomic_store(&hazard, node);
    if (atomic_load(&top) != node) continue;
    struct node *next = node->next;
    int done = atomic_compare_exchange_strong(&top, &node, next);
    // Only now: while the pointer is there, no other node can have the same address.
    atomic_store(&hazard, NULL);
    if (done) break;
  }
  return unused;
}

int main(void) {
  push(1);
  push(2);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, owner, NULL);
  pthread_create(&threads[1], NULL, careful, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  // What is on the stack was not freed.
  for (struct node *node = atomic_load(&top); node != NULL; node = node->next) assert(node->value != 0);
  return 0;
}
