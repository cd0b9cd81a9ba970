//! Dekker's mutual exclusion (Dijkstra, 1965) with release and acquire only: a thread raises its flag, and its look
//! at the other flag may overtake that store. Both threads are then in their critical sections at once.
//! expect check tso: not robust, wrong
//! expect check rc20: not robust, wrong
//! expect reach sc: holds
//! expect reach tso: violated
//! expect reach rc20: violated
//! expect fence tso: 2
//! expect fence rc20: 2
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
  atomic_store_explicit(&wants[me], true, memory_order_release);
  while (atomic_load_explicit(&wants[other], memory_order_acquire)) {
    if (atomic_load_explicit(&turn, memory_order_acquire) != me) {
      atomic_store_explicit(&wants[me], false, memory_order_release);
      while (atomic_load_explicit(&turn, memory_order_acquire) != me) {
      }
      atomic_store_explicit(&wants[me], true, memory_order_release);
    }
  }
}

static void unlock(int me) {
  atomic_store_explicit(&turn, 1 - me, memory_order_release);
  atomic_store_explicit(&wants[me], false, memory_order_release);
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
