// Message passing through a read-modify-write of a third thread: the release sequence goes on.
// runs: 1
// case relaxed-increment -DMIDDLE: none
// case overwritten -DOVERWRITE: race wx rx
// case release-relaxed-increment -DMIDDLE -DW=RLX: race wx rx
#include <stdatomic.h>
#include "../turns.h"
#ifndef W
#define W REL
#endif

static int payload;
atomic_int ready;

static void left(void) {
  payload = 42; //@wx
  atomic_store_explicit(&ready, 1, W);
}

static void middle(void) {
#ifdef MIDDLE
  atomic_fetch_add_explicit(&ready, 1, RLX);
#else
  atomic_store_explicit(&ready, 2, RLX);
#endif
}

static void right(void) {
  if (atomic_load_explicit(&ready, ACQ) == 2 && payload != 42) abort(); //@rx
}

int main(void) { IN_TURNS(left, middle, right); }
