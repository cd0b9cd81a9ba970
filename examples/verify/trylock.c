//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// Who does not get the lock does without. The broken one does not look whether it got it.
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *count(void *unused) {
  int failed = pthread_mutex_trylock(&mutex);
#ifndef BROKEN
  if (failed) return unused;
#endif
  counter++;
  if (!failed) pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_t others[2];
  for (int i = 0; i < 2; i++) pthread_create(&others[i], NULL, count, NULL);
  count(NULL);
  for (int i = 0; i < 2; i++) pthread_join(others[i], NULL);
  return counter < 1 || counter > 3;
}
