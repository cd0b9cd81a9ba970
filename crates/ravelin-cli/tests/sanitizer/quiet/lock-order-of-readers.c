// Readers do not wait for each other, in whatever order they lock.
// case c: none
#include "../turns.h"

static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER, b = PTHREAD_RWLOCK_INITIALIZER;

static void both(pthread_rwlock_t *one, pthread_rwlock_t *two) {
  pthread_rwlock_rdlock(one);
  pthread_rwlock_rdlock(two);
  pthread_rwlock_unlock(two);
  pthread_rwlock_unlock(one);
}

static void first(void) { both(&a, &b); }
static void second(void) { both(&b, &a); }

int main(void) { IN_TURNS(first, second); }
