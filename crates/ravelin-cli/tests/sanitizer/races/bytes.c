// A byte inside a word that another thread writes as a whole; and neighbours that do not overlap.
// case inside -DINDEX=3: race w b
// case last -DINDEX=7: race w b
// case beside -DINDEX=8: none
// case one-by-one -DINDEX=5 -DSTEP=1: race s b
// case every-other -DINDEX=4 -DSTEP=2: race s b
// case in-between -DINDEX=5 -DSTEP=2: none
#include "../turns.h"

union {
  unsigned long words[2];
  char bytes[16];
} memory;

static void word(void) {
#ifdef STEP
  // Several bytes, each by itself.
  for (volatile char *byte = memory.bytes; byte < memory.bytes + 8; byte += STEP) *byte = 1; //@s
#else
  memory.words[0] = ~0ul; //@w
#endif
}

static void byte(void) {
  memory.bytes[INDEX] = 1; //@b
}

int main(void) { IN_TURNS(word, byte); }
