//! Dekker's mutual exclusion (Dijkstra, 1965) with a sequentially consistent fence behind each announcement. The
//! threads enter again and again; no run of the program ends, and no bound on loops would be enough.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_bool wants[2];
static atomic_long turn;
static long inside;

// Says whether a thread wants to enter, before it looks at what the other one says.
static void announce(long me, bool want) {
  atomic_store_explicit(&wants[me], want, memory_order_release);
  atomic_thread_fence(memory_order_seq_cst);
}

static void lock(long me) {
  long other = 1 - me;
  announce(me, true);
  while (atomic_load_explicit(&wants[other], memory_order_acquire)) {
    if (atomic_load_explicit(&turn, memory_order_relaxed) != me) {
      announce(me, false);
      while (atomic_load_explicit(&turn, memory_order_relaxed) != me) {
      }
      announce(me, true);
    }
  }
}

static void unlock(long me) {
  atomic_store_explicit(&turn, 1 - me, memory_order_release);
  atomic_store_explicit(&wants[me], false, memory_order_release);
}

static void *worker(void *argument) {
  long me = (long)argument;
  while (1) {
    lock(me);
    inside = me;
    assert(inside == me);
    unlock(me);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
  for (long i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
