// A race on a block of the heap that was used for something else before.
// case c: race w r
#include <string.h>
#include "../turns.h"

static char *block;

static void writer(void) {
  block[17] = 1; //@w
}

static void reader(void) {
  if (block[17] > 1) abort(); //@r
}

int main(void) {
  for (int i = 0; i < 10; i++) {
    char *old = malloc(100);
    memset(old, 1, 100);
    free(old);
  }
  block = calloc(1, 100);
  IN_TURNS(writer, reader);
}
