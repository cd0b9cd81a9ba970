//! Fast mutual exclusion, second algorithm (Lamport, 1987), with the sequentially consistent operators of C11's
//! atomic types. Without contention a thread enters after seven accesses. Two threads enter once.
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

enum { N = 2 };

static atomic_bool busy[N + 1];
static atomic_int x, y; // y: who holds the lock; 0 for nobody
static int counter;

static void lock(int me) {
  for (;;) {
    busy[me] = true;
    x = me;
    if (y != 0) {
      busy[me] = false;
      while (y != 0) {
      }
      continue;
    }
    y = me;
    if (x == me) return;
    busy[me] = false;
    for (int other = 1; other <= N; other++) {
      while (busy[other]) {
      }
    }
    if (y == me) return;
    while (y != 0) {
    }
  }
}

static void unlock(int me) {
  y = 0;
  busy[me] = false;
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
