// Message passing with 10^N further stores: memory stays flat (example 7.2 of Margalit et al., 2025).
// case relaxed -DW=RLX: none
// case release -DW=REL: none
// case seq-cst -DW=SC: none
// arguments: 5
#include <stdatomic.h>
#include "../turns.h"

static atomic_int x, y, other;
static long most = 1;

static void produce(void) {
  atomic_store_explicit(&x, 1, REL);
  for (long i = 0; i < most; i++) atomic_store_explicit(&other, (int)i, W);
  atomic_store_explicit(&y, 1, REL);
}

static void consume(void) {
  if (atomic_load_explicit(&y, ACQ)) (void)atomic_load_explicit(&x, ACQ);
}

int main(int count, char **arguments) {
  for (int n = count > 1 ? atoi(arguments[1]) : 4; n > 0; n--) most *= 10;
  IN_TURNS(produce, consume);
}
