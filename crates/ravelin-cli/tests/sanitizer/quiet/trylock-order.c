// A lock in the wrong order that is only tried, or waited for with a time limit, cannot deadlock.
// case try: none
// case timed -DTIMED: none
#include "../turns.h"
#include <time.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void first(void) {
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
}

static void second(void) {
  pthread_mutex_lock(&b);
#ifdef TIMED
  struct timespec soon = {0, 0};
  if (pthread_mutex_timedlock(&a, &soon) == 0) pthread_mutex_unlock(&a);
#else
  if (pthread_mutex_trylock(&a) == 0) pthread_mutex_unlock(&a);
#endif
  pthread_mutex_unlock(&b);
}

int main(void) { IN_TURNS(first, second); }
