// Both accesses come before anything else that the threads do; of the earlier one, too, place and size are known.
// case write -DFIRST=write_first -DSECOND=read_second: race w/4 r/4
// case read -DFIRST=read_second -DSECOND=write_first: race w/4 r/4
// case wide -DFIRST=write_wide -DSECOND=read_second: race d/8 r/4
// case part -DFIRST=write_two -DSECOND=read_byte: race h/2 b/1
#include "../turns.h"

static union {
  unsigned char bytes[8];
  unsigned short halves[4];
  unsigned words[2];
  unsigned long whole;
} volatile memory;

static __attribute__((unused)) void write_first(void) {
  memory.words[1] = 1; //@w
}

static __attribute__((unused)) void read_second(void) {
  (void)memory.words[1]; //@r
}

static __attribute__((unused)) void write_wide(void) {
  memory.whole = 1; //@d
}

// The other thread meets the first of the two.
static __attribute__((unused)) void write_two(void) {
  memory.halves[0] = 1; //@h
  memory.halves[1] = 1; //@i
}

static __attribute__((unused)) void read_byte(void) {
  (void)memory.bytes[1]; //@b
}

int main(void) { IN_TURNS(FIRST, SECOND); }
