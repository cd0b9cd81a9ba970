// A thread uses a block that another frees without any order between them. What is known about a block is forgotten when
// it is freed, so a use that comes after it is found only if the allocator tells.
// case used-before -DBEFORE: race use free
// case used-after: may race use free
// flags: -O1
#include "../turns.h"

static int *volatile block;

static void use(void) {
  block[100] += 1; //@use
}

static void drop(void) {
  free(block); //@free
}

int main(void) {
  block = malloc(1000);
  block[100] = 1;
#ifdef BEFORE
  IN_TURNS(use, drop);
#else
  IN_TURNS(drop, use);
#endif
}
