// Store buffering where one side waits for the other in a loop that passes at its first look. Missing the write means to
// wait longer. Only if an earlier write lets it pass as well does it go on with less than it should know.
// runs: 1
// case waits: none
// case any-condition -DCONDITION(x)=(x<2): none
// case passes -DBEFORE=1: violation Wx Rx
// case waits-for-more -DBEFORE=1 -DCONDITION(x)=(x!=2): none
#include <stdatomic.h>
#include "../turns.h"
#ifndef CONDITION
#define CONDITION(x) ((x) == 0)
#endif

static atomic_int x, y;
static int seen;

static void one(void) {
#ifdef BEFORE
  atomic_store_explicit(&x, BEFORE, RLX);
#endif
  atomic_store_explicit(&x, 2, RLX); //@Wx
  seen = atomic_load_explicit(&y, RLX);
}

static void two(void) {
  atomic_store_explicit(&y, 1, RLX);
  while (CONDITION(atomic_load_explicit(&x, RLX))) {} //@Rx
}

int main(void) { IN_TURNS(one, two); }
