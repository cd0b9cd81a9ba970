// A byte inside a word that another thread writes as a whole; and neighbours that do not overlap.
// case inside -DINDEX=3: race w b
// case last -DINDEX=7: race w b
// case beside -DINDEX=8: none
#include "../turns.h"

union {
  unsigned long words[2];
  char bytes[16];
} memory;

static void word(void) {
  memory.words[0] = ~0ul; //@w
}

static void byte(void) {
  memory.bytes[INDEX] = 1; //@b
}

int main(void) { IN_TURNS(word, byte); }
