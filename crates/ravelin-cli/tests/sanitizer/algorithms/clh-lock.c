// The queue lock of Craig, Landin and Hagersten: a thread waits on its predecessor's node and takes it over.
// case release-acquire -DW=REL -DR=ACQ -DU=AR: none
// case seq-cst -DW=SC -DR=SC -DU=SC: none
#include <stdatomic.h>
#include "../turns.h"

struct node {
  atomic_int busy;
};

static struct node first;
static _Atomic(struct node *) tail = &first;
static int counter;

static void *worker(void *unused) {
  struct node *me = malloc(sizeof *me);
  for (int i = 0; i < 200; i++) {
    atomic_store_explicit(&me->busy, 1, W);
    struct node *before = atomic_exchange_explicit(&tail, me, U);
    RAVELIN_WAIT(&before->busy, 0, R);
    counter++;
    atomic_store_explicit(&me->busy, 0, W);
    me = before;
  }
  return unused;
}

int main(void) {
  at_once(3, worker);
  return counter != 600;
}
