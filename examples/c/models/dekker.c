//! Dekker's mutual exclusion (Dijkstra, 1965) with sequentially consistent accesses, as C11 writes them by default.
//! Two threads enter their critical section once.
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
static atomic_int turn;
static int counter;

static void lock(int me) {
  int other = 1 - me;
  atomic_store(&wants[me], true);
  while (atomic_load(&wants[other])) {
    if (atomic_load(&turn) != me) {
      atomic_store(&wants[me], false);
      while (atomic_load(&turn) != me) {
      }
      atomic_store(&wants[me], true);
    }
  }
}

static void unlock(int me) {
  atomic_store(&turn, 1 - me);
  atomic_store(&wants[me], false);
}

static void *worker(void *argument) {
  int me = *(const int *)argument;
  lock(me);
  counter++;
  unlock(me);
  return NULL;
}

int main(void) {
  static const int ids[2] = {0, 1};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, (void *)&ids[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert(counter == 2);
  return 0;
}
