//! Mutual exclusion (Peterson, 1981) with the sequentially consistent operators of C11's atomic types. The threads
//! enter again and again.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic int flag[2];
static _Atomic int turn;
static int inside;

static void enter(int me) {
  flag[me] = 1;
  turn = 1 - me;
  while (flag[1 - me] && turn == 1 - me) {
  }
}

static void leave(int me) { flag[me] = 0; }

static void *worker(void *argument) {
  int me = (int)(long)argument;
  while (1) {
    enter(me);
    inside = me;
    assert(inside == me);
    leave(me);
  }
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, worker, (void *)0);
  pthread_create(&threads[1], NULL, worker, (void *)1);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
