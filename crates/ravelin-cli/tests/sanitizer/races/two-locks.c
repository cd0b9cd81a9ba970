// Two threads protect the same variable with different locks.
// case c: race w w
#include "../turns.h"

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void add(pthread_mutex_t *mutex) {
  pthread_mutex_lock(mutex);
  value++; //@w
  pthread_mutex_unlock(mutex);
}

static void first(void) { add(&one); }
static void second(void) { add(&two); }

int main(void) { IN_TURNS(first, second); }
