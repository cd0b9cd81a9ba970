//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// A sense-reversing barrier, used twice: what was written before it is read behind it. The broken one counts with relaxed
// operations.
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define ARRIVE memory_order_relaxed
#else
#define ARRIVE memory_order_acq_rel
#endif

enum { THREADS = 2 };

static atomic_int missing = THREADS, sense;
static int values[THREADS];

static void barrier(int *mine) {
  *mine = !*mine;
  if (atomic_fetch_sub_explicit(&missing, 1, ARRIVE) == 1) {
    atomic_store_explicit(&missing, THREADS, memory_order_relaxed);
    atomic_store_explicit(&sense, *mine, memory_order_release);
  } else {
    while (atomic_load_explicit(&sense, memory_order_acquire) != *mine) {
    }
  }
}

static void *side(void *argument) {
  long me = (long)argument;
  int mine = 0;
  values[me] = 1;
  barrier(&mine);
  long wrong = values[1 - me] != 1;
  barrier(&mine);
  values[me] = 2;
  return (void *)wrong;
}

int main(void) {
  pthread_t other;
  void *wrong;
  pthread_create(&other, NULL, side, (void *)1);
  void *mine = side((void *)0);
  pthread_join(other, &wrong);
  return mine != NULL || wrong != NULL;
}
