// Both accesses are deep in calls; the positions are those of the accesses.
// case c: race w w
#include "../turns.h"

static int value;

static __attribute__((noinline)) void down(int levels) {
  if (levels == 0) {
    value++; //@w
    return;
  }
  down(levels - 1);
  __asm__ __volatile__("");
}

static void work(void) { down(30); }

int main(void) { IN_TURNS(work, work); }
