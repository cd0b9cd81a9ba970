// The queue lock of Mellor-Crummey and Scott, with marked waits.
// case release-acquire: none
// case seq-cst -DSEQ_CST: none
// case relaxed-hand-over -DHAND=RLX: race count count
// forgets: while it waits
#include <stdatomic.h>
#include "../turns.h"
#ifdef SEQ_CST
#define R SC
#define W SC
#define U SC
#else
#define R ACQ
#define W REL
#define U AR
#endif
#ifndef HAND
#define HAND W
#endif

struct node {
  _Atomic(struct node *) next;
  atomic_int waiting;
};

static _Atomic(struct node *) tail;
static int counter;

static void *worker(void *unused) {
  struct node *me = malloc(sizeof *me);
  for (int i = 0; i < 200; i++) {
    atomic_store_explicit(&me->next, 0, W);
    atomic_store_explicit(&me->waiting, 1, W);
    struct node *before = atomic_exchange_explicit(&tail, me, U);
    if (before) {
      atomic_store_explicit(&before->next, me, W);
      RAVELIN_WAIT(&me->waiting, 0, R);
    }
    counter++; //@count
    if (i % 8 == 0) sched_yield();
    struct node *after = atomic_load_explicit(&me->next, R);
    if (!after) {
      struct node *expected = me;
      if (RAVELIN_CAS_STRONG(&tail, &expected, 0, U, R)) continue;
      while (!(after = atomic_load_explicit(&me->next, R))) sched_yield();
    }
    atomic_store_explicit(&after->waiting, 0, HAND);
  }
  return unused;
}

int main(void) { at_once(3, worker); }
