// Unaligned accesses that cross a word.
// case overlap -DOFFSET=8: race w r
// case apart -DOFFSET=9: none
#include "../turns.h"

struct packed {
  unsigned long value;
} __attribute__((packed));

static char memory[32];

static void writer(void) {
  ((struct packed *)(memory + 5))->value = 1; //@w
}

static void reader(void) {
  if (((struct packed *)(memory + 4 + OFFSET))->value == 99) abort(); //@r
}

int main(void) { IN_TURNS(writer, reader); }
