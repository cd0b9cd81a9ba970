// Ten threads read a variable; a writer knows that nine of them are done.
// case nine -DKNOWN=9: race r w
// case ten -DKNOWN=10: none
#include <stdatomic.h>
#include "../turns.h"

static int value;
static atomic_int done[10];

#define READER(n)                                                                                                      \
  static void reader##n(void) {                                                                                        \
    (void)*(volatile int *)&value;                                                                                     \
    atomic_store_explicit(&done[n], 1, REL);                                                                           \
  }
// Named apart for the sake of their stacks; all on one line.
READER(0) READER(1) READER(2) READER(3) READER(4) READER(5) READER(6) READER(7) READER(8) READER(9) //@r

static void writer(void) {
  for (int i = 0; i < KNOWN; i++) RAVELIN_WAIT(&done[i], 1, ACQ);
  value = 1; //@w
}

int main(void) {
  IN_TURNS(reader0, reader1, reader2, reader3, reader4, reader5, reader6, reader7, reader8, reader9, writer);
}
