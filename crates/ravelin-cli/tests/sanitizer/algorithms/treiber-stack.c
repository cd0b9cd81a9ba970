// Treiber's stack; nodes are freed at the end only.
// case release-acquire -DPUSH=REL -DPOP=ACQ: none
// case relaxed-push -DPUSH=RLX -DPOP=ACQ -DTURNS: race fill use, may race
// case relaxed-pop -DPUSH=REL -DPOP=RLX -DTURNS: race fill use, may race
// case turns -DPUSH=REL -DPOP=ACQ -DTURNS: none
// case seq-cst -DPUSH=SC -DPOP=SC: none
// forgets: while it waits
#include <stdatomic.h>
#include "../turns.h"
#define N 200

struct node {
  struct node *next;
  int value;
};

static _Atomic(struct node *) head;
static struct node nodes[3][N];

static void push(struct node *node) {
  struct node *top = atomic_load_explicit(&head, RLX);
  do {
    node->next = top;
  } while (!RAVELIN_CAS_WEAK(&head, &top, node, PUSH, RLX));
}

static struct node *pop(void) {
  struct node *top = atomic_load_explicit(&head, POP);
  while (top && !RAVELIN_CAS_WEAK(&head, &top, top->next, POP, POP)) {
  }
  return top;
}

static void *worker(void *argument) {
  long me = (long)argument, sum = 0;
  for (int i = 0; i < N; i++) {
    nodes[me][i].value = i; //@fill
    push(&nodes[me][i]);
    if (i % 2) {
      struct node *node = pop();
      if (node) sum += node->value; //@use
    }
    sched_yield();
  }
  return (void *)sum;
}

static void push_two(void) {
  nodes[0][0].value = 1; //@fill
  nodes[0][1].value = 2; //@fill
  push(&nodes[0][0]);
  push(&nodes[0][1]);
}

static void pop_one(void) {
  struct node *node = pop();
  if (!node || node->value < 1) abort(); //@use
}

int main(void) {
#ifdef TURNS
  IN_TURNS(push_two, pop_one, pop_one);
  (void)worker;
#else
  (void)push_two, (void)pop_one;
  at_once(3, worker);
#endif
}
