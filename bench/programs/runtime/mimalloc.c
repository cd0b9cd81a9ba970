// mimalloc under stress: blocks of many sizes, allocated by one thread and freed by another. 25 threads hand them on
// through a shelf, end, and are followed by 25 others.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <mimalloc.h>

enum { THREADS = 25, ROUNDS = 20000, SHELF = 1000, HELD = 64 };

static _Atomic(void *) shelf[SHELF];

static void *worker(void *argument) {
  unsigned seed = (unsigned)(uintptr_t)argument + 1;
  void *held[HELD] = {0};
  for (int i = 0; i < ROUNDS; i++) {
    seed = seed * 1103515245 + 12345;
    unsigned at = (seed >> 8) % HELD;
    size_t size = (seed >> 28) == 0 ? 1 + (seed >> 4) % 50000 : 1 + (seed >> 12) % 500;
    mi_free(held[at]);
    held[at] = mi_malloc(size);
    if (!held[at]) abort();
    memset(held[at], (int)seed, size < 64 ? size : 64);
    if (seed >> 30 == 0)
      held[at] = atomic_exchange_explicit(&shelf[(seed >> 14) % SHELF], held[at], memory_order_acq_rel);
  }
  for (int i = 0; i < HELD; i++) mi_free(held[i]);
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int round = 0; round < 2; round++) {
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
  }
  for (int i = 0; i < SHELF; i++) mi_free(atomic_load(&shelf[i]));
}
