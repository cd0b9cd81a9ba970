// Atomics of 16 bytes.
// case c: none
// flags: -mcx16
// libraries: -latomic
#include <stdatomic.h>
#include "../turns.h"

typedef struct {
  long value, version;
} pair;
static _Atomic pair wide;
static _Atomic unsigned __int128 number;

static void *worker(void *unused) {
  for (int i = 0; i < 300; i++) {
    pair old = atomic_load(&wide), new;
    do new = (pair){old.value + 2, old.version + 1};
    while (!atomic_compare_exchange_weak(&wide, &old, new));
    atomic_fetch_add(&number, ((unsigned __int128)1 << 64) + 1);
  }
  return unused;
}

int main(void) {
  at_once(3, worker);
  pair last = atomic_load(&wide);
  unsigned __int128 n = atomic_load(&number);
  return last.value != 1800 || last.version != 900 || (long)n != 900 || (long)(n >> 64) != 900;
}
