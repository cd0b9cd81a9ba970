// A thread that waits for a condition locks its mutex again while it holds another lock.
// case c: lock-order-inversion again inner
#include "../turns.h"
#include <time.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void waiter(void) {
  struct timespec soon = {0, 0};
  pthread_mutex_lock(&outer);
  pthread_mutex_lock(&inner);
  pthread_cond_timedwait(&condition, &outer, &soon); //@again
  pthread_mutex_unlock(&inner);
  pthread_mutex_unlock(&outer);
}

static void other(void) {
  pthread_mutex_lock(&outer);
  pthread_mutex_lock(&inner); //@inner
  pthread_mutex_unlock(&inner);
  pthread_mutex_unlock(&outer);
}

int main(void) { IN_TURNS(waiter, other); }
