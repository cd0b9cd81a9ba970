// One thread locks in both orders: it cannot wait for itself.
// case c: none
#include "../turns.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *one, pthread_mutex_t *two) {
  pthread_mutex_lock(one);
  pthread_mutex_lock(two);
  pthread_mutex_unlock(two);
  pthread_mutex_unlock(one);
}

static void only(void) {
  both(&a, &b);
  both(&b, &a);
}

int main(void) { IN_TURNS(only); }
