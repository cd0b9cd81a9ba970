// Three threads, each of which holds one lock of a circle and locks the next one.
// case c: lock-order-inversion next next
#include "../turns.h"

static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void both(int which) {
  pthread_mutex_lock(&locks[which]);
  pthread_mutex_lock(&locks[(which + 1) % 3]); //@next
  pthread_mutex_unlock(&locks[(which + 1) % 3]);
  pthread_mutex_unlock(&locks[which]);
}

static void first(void) { both(0); }
static void second(void) { both(1); }
static void third(void) { both(2); }

int main(void) { IN_TURNS(first, second, third); }
