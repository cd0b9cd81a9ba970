// A ticket lock: who waits knows what for.
// case marked: none
// case relaxed-release -DW=RLX: race count count
// forgets: while it waits
#include <stdatomic.h>
#include "../turns.h"
#ifndef W
#define W REL
#endif

static atomic_uint next, serving;
static int counter;

static void *worker(void *unused) {
  for (int i = 0; i < 300; i++) {
    unsigned mine = atomic_fetch_add_explicit(&next, 1, RLX);
    RAVELIN_WAIT(&serving, mine, ACQ);
    counter++; //@count
    atomic_store_explicit(&serving, mine + 1, W);
  }
  return unused;
}

int main(void) {
  at_once(3, worker);
  return counter != 900 && W == REL;
}
