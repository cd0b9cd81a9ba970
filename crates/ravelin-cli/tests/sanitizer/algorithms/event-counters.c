// Workers count what they start and what they finish; an observer reads both.
// case relaxed -DFINISH=RLX -DOBSERVE=RLX: violation ws rs
// case release-acquire -DFINISH=REL -DOBSERVE=ACQ: none
#include <stdatomic.h>
#include "../turns.h"

static atomic_int started, finished;

static void work(void) {
  atomic_fetch_add_explicit(&started, 1, RLX); //@ws
  atomic_fetch_add_explicit(&finished, 1, FINISH);
}

static void observe(void) {
  int done = atomic_load_explicit(&finished, OBSERVE);
  int begun = atomic_load_explicit(&started, RLX); //@rs
  if (done > begun) abort();
}

int main(void) { IN_TURNS(work, work, observe); }
