// Locks that say no instead of waiting for ever: an error-checking mutex, a lock that is tried, or has a time limit.
// case c: none
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>
#include "../turns.h"

static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, normal = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void tries(void) {
  struct timespec soon = {0, 0};
  pthread_mutex_lock(&checked);
  if (pthread_mutex_lock(&checked) != EDEADLK) abort();
  pthread_mutex_unlock(&checked);
  if (pthread_mutex_unlock(&checked) != EPERM) abort();
  pthread_mutex_lock(&normal);
  if (pthread_mutex_trylock(&normal) != EBUSY) abort();
  if (pthread_mutex_timedlock(&normal, &soon) != ETIMEDOUT) abort();
  pthread_mutex_unlock(&normal);
  pthread_rwlock_wrlock(&rwlock);
  if (pthread_rwlock_rdlock(&rwlock) != EDEADLK) abort();
  pthread_rwlock_unlock(&rwlock);
  pthread_rwlock_rdlock(&rwlock);
  pthread_rwlock_rdlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
}

int main(void) {
  tries();
  IN_TURNS(tries);
}
