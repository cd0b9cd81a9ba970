// Different threads write different bytes of one word, different words of one structure, and copy into different parts
// of one buffer: no race.
// case c: none
#include <string.h>
#include "../turns.h"

static union {
  char bytes[8];
  short halves[4];
} word;
static struct {
  char tag;
  int number __attribute__((packed));
  char end;
} __attribute__((packed)) odd[4];
static char buffer[4000];

static void *worker(void *argument) {
  long me = (long)argument;
  for (int i = 0; i < 500; i++) {
    word.bytes[me] = (char)i;
    word.halves[2 + me % 2] += me < 2;
    odd[me].tag = 1;
    odd[me].number = i;
    odd[me].end = 2;
    memset(buffer + 1000 * me, i, 999);
    memcpy(buffer + 1000 * me + 500, buffer + 1000 * me, 500);
    memmove(buffer + 1000 * me + 1, buffer + 1000 * me, 999);
  }
  return 0;
}

int main(void) {
  word.halves[2] = 0;
  at_once(2, worker);
}
