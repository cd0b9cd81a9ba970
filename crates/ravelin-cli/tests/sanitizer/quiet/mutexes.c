// Mutexes of all kinds protect a counter: normal, recursive, error-checking, tried, timed.
// case c: none
#include <errno.h>
#include <time.h>
#include "../turns.h"

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER, recursive, checking, tried, timed;
static int counters[5];

static void *worker(void *unused) {
  for (int i = 0; i < 300; i++) {
    pthread_mutex_lock(&normal);
    counters[0]++;
    pthread_mutex_unlock(&normal);

    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    counters[1]++;
    pthread_mutex_unlock(&recursive);
    counters[1]++;
    pthread_mutex_unlock(&recursive);

    pthread_mutex_lock(&checking);
    if (pthread_mutex_lock(&checking) != EDEADLK) abort();
    counters[2]++;
    pthread_mutex_unlock(&checking);

    while (pthread_mutex_trylock(&tried)) sched_yield();
    counters[3]++;
    pthread_mutex_unlock(&tried);

    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 100;
    if (pthread_mutex_timedlock(&timed, &until)) abort();
    counters[4]++;
    pthread_mutex_unlock(&timed);
  }
  return unused;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&checking, &attributes);
  pthread_mutex_init(&tried, 0);
  pthread_mutex_init(&timed, 0);
  at_once(3, worker);
  for (int i = 0; i < 5; i++)
    if (counters[i] != (i == 1 ? 1800 : 900)) return 1;
  pthread_mutex_destroy(&tried);
}
