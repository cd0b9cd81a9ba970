// Random atomic accesses of all orders: THREADS threads, LOCATIONS locations, one access in FENCES is a seq_cst fence
// (0 for none). The arguments are these three and the number of accesses of all threads together.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static long threads, locations, fences, accesses;
static atomic_long *cells;

static void *worker(void *argument) {
  unsigned long seed = (unsigned long)argument * 7919 + 1;
  for (long i = 0; i < accesses / threads; i++) {
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    atomic_long *cell = &cells[(seed >> 40) % (unsigned long)locations];
    long expected = 0;
    if (fences && (seed >> 20) % (unsigned long)fences == 0) {
      atomic_thread_fence(memory_order_seq_cst);
      continue;
    }
    switch ((seed >> 33) % 16) {
    case 0: case 1: case 2: (void)atomic_load_explicit(cell, memory_order_relaxed); break;
    case 3: case 4: case 5: (void)atomic_load_explicit(cell, memory_order_acquire); break;
    case 6: (void)atomic_load_explicit(cell, memory_order_seq_cst); break;
    case 7: case 8: atomic_store_explicit(cell, i, memory_order_relaxed); break;
    case 9: case 10: atomic_store_explicit(cell, i, memory_order_release); break;
    case 11: atomic_store_explicit(cell, i, memory_order_seq_cst); break;
    case 12: atomic_fetch_add_explicit(cell, 1, memory_order_relaxed); break;
    case 13: atomic_fetch_add_explicit(cell, 1, memory_order_acq_rel); break;
    case 14: atomic_exchange_explicit(cell, i, memory_order_acq_rel); break;
    default:
      atomic_compare_exchange_strong_explicit(cell, &expected, i, memory_order_acq_rel, memory_order_acquire);
    }
  }
  return 0;
}

int main(int count, char **arguments) {
  if (count != 5) return 2;
  threads = atol(arguments[1]), locations = atol(arguments[2]), fences = atol(arguments[3]);
  accesses = atol(arguments[4]);
  cells = calloc((size_t)locations, sizeof *cells);
  pthread_t *handles = calloc((size_t)threads, sizeof *handles);
  for (long i = 0; i < threads; i++) pthread_create(&handles[i], 0, worker, (void *)i);
  for (long i = 0; i < threads; i++) pthread_join(handles[i], 0);
  free(handles);
  free(cells);
}
