// Example 3.1 of Margalit et al., 2025, without a fixed order: found in every run, on one side or the other.
// case any: violation, may violation
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;

static void *side(void *number) {
  atomic_int *mine = number ? &y : &x, *other = number ? &x : &y;
  atomic_store_explicit(mine, 1, REL);
  (void)atomic_load_explicit(other, ACQ);
  atomic_store_explicit(mine, 2, REL);
  return 0;
}

int main(void) { at_once(2, side); }
