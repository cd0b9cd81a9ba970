// A ticket lock: who waits knows what for.
// case marked: none
// case unmarked -DUNMARKED: none
// case unmarked-random -DUNMARKED | --schedule random --runs 5: none
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
#ifdef UNMARKED
    while (atomic_load_explicit(&serving, ACQ) != mine) {}
#else
    RAVELIN_WAIT(&serving, mine, ACQ);
#endif
    counter++; //@count
    atomic_store_explicit(&serving, mine + 1, W);
  }
  return unused;
}

int main(void) {
  at_once(3, worker);
  return counter != 900 && W == REL;
}
