//! expect verify: verified
//! expect verify -DBROKEN: violated: deadlock
// A hand-over by a condition variable. The broken one looks before it locks: if the signal comes in between, nobody hears
// it, and the wait never ends.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int there;

static void *giver(void *unused) {
  pthread_mutex_lock(&mutex);
  atomic_store(&there, 1);
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, giver, NULL);
#ifdef BROKEN
  if (!atomic_load(&there)) {
    pthread_mutex_lock(&mutex);
    pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
  }
#else
  pthread_mutex_lock(&mutex);
  while (!atomic_load(&there)) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
#endif
  pthread_join(other, NULL);
  return 0;
}
