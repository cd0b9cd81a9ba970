// A hazard pointer: the reader announces what it is about to use and looks again; the writer unlinks and then looks
// for announcements. Store buffering, so both sides need a seq_cst fence.
// case fences -DFENCE: none
// case no-fences: violation wp rp
// case reader-only -DREADER: violation wp rp
#include <stdatomic.h>
#include "../turns.h"

static _Atomic(int *) shared, hazard;
static int *first;

static void full(int wanted) {
  if (wanted) atomic_thread_fence(SC);
}

#ifdef FENCE
enum { READ_FENCE = 1, WRITE_FENCE = 1 };
#elif defined(READER)
enum { READ_FENCE = 1, WRITE_FENCE = 0 };
#else
enum { READ_FENCE = 0, WRITE_FENCE = 0 };
#endif

static void reader(void) {
  int *p = atomic_load_explicit(&shared, ACQ);
  atomic_store_explicit(&hazard, p, REL); //@wp
  full(READ_FENCE);
  if (atomic_load_explicit(&shared, ACQ) == p && *p != 7) abort();
  atomic_store_explicit(&hazard, 0, REL);
}

static void writer(void) {
  atomic_store_explicit(&shared, 0, REL);
  full(WRITE_FENCE);
  if (atomic_load_explicit(&hazard, ACQ) != first) free(first); //@rp
}

int main(void) {
  first = malloc(sizeof *first);
  *first = 7;
  atomic_store(&shared, first);
  IN_TURNS(reader, writer);
}
