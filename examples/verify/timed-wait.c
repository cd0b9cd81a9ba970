//! expect verify: verified
//! expect verify -DBROKEN: violated: exit code 1
// A wait with a time limit may end either way, also when the signal and the end of the time come together. So its result
// says nothing about what it waited for, and it must look. The broken one believes the result.
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int there;

static void *giver(void *unused) {
  pthread_mutex_lock(&mutex);
  there = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_t other;
  struct timespec soon = {.tv_sec = 1};
  int over = 0;
  pthread_create(&other, NULL, giver, NULL);
  pthread_mutex_lock(&mutex);
  while (!there && !over) over = pthread_cond_timedwait(&changed, &mutex, &soon) == ETIMEDOUT;
#ifdef BROKEN
  int got = !over;
#else
  int got = there;
#endif
  int wrong = got != there;
  pthread_mutex_unlock(&mutex);
  pthread_join(other, NULL);
  return wrong;
}
