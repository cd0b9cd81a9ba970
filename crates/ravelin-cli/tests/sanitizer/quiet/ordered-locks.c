// Locks in one order everywhere, also hand over hand, and unlocked in any order.
// case c: none
#include "../turns.h"

static pthread_mutex_t locks[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};

static void *walks(void *ignored) {
  for (int round = 0; round < 50; round++) {
    pthread_mutex_lock(&locks[0]);
    for (int i = 1; i < 4; i++) {
      pthread_mutex_lock(&locks[i]);
      pthread_mutex_unlock(&locks[i - 1]);
    }
    pthread_mutex_unlock(&locks[3]);
    pthread_mutex_lock(&locks[1]);
    pthread_mutex_lock(&locks[2]);
    pthread_mutex_unlock(&locks[1]);
    pthread_mutex_unlock(&locks[2]);
  }
  return 0;
}

int main(void) { at_once(3, walks); }
