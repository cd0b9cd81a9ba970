// A block of the heap is freed twice.
// case same-thread -DSAME: double-free second first
// case another-thread: double-free second first
// exit: any
#include "../turns.h"

static int *block;
static _Atomic int is_done;

static void first(void) {
  free(block); //@first
  is_done = 1;
#ifdef SAME
  free(block); //@second
#endif
}

static void second(void) {
#ifndef SAME
  free(block); //@second
  is_done = 2;
#endif
}

int main(void) {
  block = (int *)malloc(64);
  IN_TURNS(first, second);
}
