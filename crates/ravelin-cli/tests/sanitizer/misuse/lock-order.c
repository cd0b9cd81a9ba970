// Two threads lock two locks in different orders. They run one after the other, so nothing is stuck in this run.
// case mutexes: lock-order-inversion b a
// case ignored | --ignore lock-order-inversion: none
#include "../turns.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void first(void) {
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b); //@b
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
}

static void second(void) {
  pthread_mutex_lock(&b);
  pthread_mutex_lock(&a); //@a
  pthread_mutex_unlock(&a);
  pthread_mutex_unlock(&b);
}

int main(void) { IN_TURNS(first, second); }
