// A counter that nobody protects.
// case c: race w w
#include "../turns.h"

static int counter;

static void work(void) {
  counter++; //@w
}

int main(void) { IN_TURNS(work, work); }
