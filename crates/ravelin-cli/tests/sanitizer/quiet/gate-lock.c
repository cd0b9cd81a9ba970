// Locks are taken in different orders, but only by a thread that holds a third one.
// case c: none
#include "../turns.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *one, pthread_mutex_t *two) {
  pthread_mutex_lock(&gate);
  pthread_mutex_lock(one);
  pthread_mutex_lock(two);
  pthread_mutex_unlock(two);
  pthread_mutex_unlock(one);
  pthread_mutex_unlock(&gate);
}

static void first(void) { both(&a, &b); }
static void second(void) { both(&b, &a); }

int main(void) { IN_TURNS(first, second); }
