// Store buffering whose stale value would be an index far beyond the stack: nothing may be read there to find out what
// the program would do with it.
// runs: 1
// case index: violation wx rx
#include <stdatomic.h>
#include "../turns.h"

static atomic_ulong x, y;

static void *left(void *unused) {
  atomic_store_explicit(&x, 1, RLX); //@wx
  (void)atomic_load_explicit(&y, RLX);
  turn_ends();
  return unused;
}

static int right(volatile int *table) {
  atomic_store_explicit(&y, 1, RLX);
  int last;
  do {
    last = table[atomic_load_explicit(&x, RLX)]; //@rx
  } while (last == 5);
  return last;
}

int main(void) {
  volatile int table[2] = {5, 0};
  pthread_t thread;
  atomic_init(&x, 200000);
  pthread_create(&thread, 0, left, 0);
  turn_begins(1);
  int last = right(table);
  pthread_join(thread, 0);
  return last;
}
