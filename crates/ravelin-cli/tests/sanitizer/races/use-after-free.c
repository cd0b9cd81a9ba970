// A thread uses a block that another frees without any order between them, before or after.
// case used-before -DBEFORE: race use free
// case used-after: race use free/1000
// case not-wanted | --no-freed-memory: none
// case moved -DMOVED: race use free/1000
// flags: -O1
#include "../turns.h"

static int *volatile block;
static int *volatile old;

static void use(void) {
  old[100] += 1; //@use
}

static void drop(void) {
#ifdef MOVED
  block = realloc(block, 10000000); //@free
#else
  free(block); //@free
#endif
}

int main(void) {
  block = malloc(1000);
  block[100] = 1;
  old = block;
#ifdef BEFORE
  IN_TURNS(use, drop);
#else
  IN_TURNS(drop, use);
#endif
}
