// The core of Dekker's algorithm, once, in a fixed order: no race happens, but one may.
// case release-acquire -DW=REL -DR=ACQ: violation wx rx
// case seq-cst -DW=SC -DR=SC: none
#include <stdatomic.h>
#include "../turns.h"

static atomic_int x, y;
static int critical;

static void left(void) {
  atomic_store_explicit(&x, 1, W); //@wx
  if (!atomic_load_explicit(&y, R)) critical++;
}

static void right(void) {
  atomic_store_explicit(&y, 1, W);
  if (!atomic_load_explicit(&x, R)) critical++; //@rx
}

int main(void) { IN_TURNS(left, right); }
