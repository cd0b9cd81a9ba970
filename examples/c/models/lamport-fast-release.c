//! Fast mutual exclusion, second algorithm (Lamport, 1987), with release and acquire only: a thread does not see that
//! the other one has stored `x`, and both enter.
//! expect check tso: not robust, wrong
//! expect check rc20: not robust, wrong
//! expect reach sc: holds
//! expect reach tso: violated
//! expect reach rc20: violated
//! expect fence tso: 4
//! expect fence rc20: 4
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { N = 2 };

static atomic_bool busy[N + 1];
static atomic_int x, y; // y: who holds the lock; 0 for nobody
static int counter;

static void lock(int me) {
  for (;;) {
    atomic_store_explicit(&busy[me], true, memory_order_release);
    atomic_store_explicit(&x, me, memory_order_release);
    if (atomic_load_explicit(&y, memory_order_acquire) != 0) {
      atomic_store_explicit(&busy[me], false, memory_order_release);
      while (atomic_load_explicit(&y, memory_order_acquire) != 0) {
      }
      continue;
    }
    atomic_store_explicit(&y, me, memory_order_release);
    if (atomic_load_explicit(&x, memory_order_acquire) == me) return;
    atomic_store_explicit(&busy[me], false, memory_order_release);
    for (int other = 1; other <= N; other++) {
      while (atomic_load_explicit(&busy[other], memory_order_acquire)) {
      }
    }
    if (atomic_load_explicit(&y, memory_order_acquire) == me) return;
    while (atomic_load_explicit(&y, memory_order_acquire) != 0) {
    }
  }
}

static void unlock(int me) {
  atomic_store_explicit(&y, 0, memory_order_release);
  atomic_store_explicit(&busy[me], false, memory_order_release);
}

static void *worker(void *argument) {
  int me = (int)(long)argument;
  lock(me);
  counter++;
  unlock(me);
  return NULL;
}

int main(void) {
  pthread_t threads[N];
  for (long i = 0; i < N; i++) pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
  for (int i = 0; i < N; i++) pthread_join(threads[i], NULL);
  assert(counter == N);
  return 0;
}
