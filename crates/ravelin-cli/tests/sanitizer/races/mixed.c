// A plain access of a variable that is otherwise atomic.
// case store -DPLAIN=plain_write(): race a p
// case load -DPLAIN=plain_read(): race a p
#include <stdatomic.h>
#include "../turns.h"

int value;

static void atomic(void) {
  __atomic_store_n(&value, 1, __ATOMIC_SEQ_CST); //@a
}

static inline __attribute__((always_inline)) void plain_write(void) {
  value = 2; //@p
}

static inline __attribute__((always_inline)) void plain_read(void) {
  if (value == 3) abort(); //@p
}

static void plain(void) { PLAIN; }

int main(void) {
  (void)plain_write, (void)plain_read;
  IN_TURNS(atomic, plain);
}
