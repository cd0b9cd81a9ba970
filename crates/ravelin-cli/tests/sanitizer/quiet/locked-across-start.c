// A mutex that is locked while there is one thread only, and unlocked when there are two.
// case c: none
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void *child(void *ignored) {
  pthread_mutex_lock(&mutex);
  value++;
  pthread_mutex_unlock(&mutex);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&mutex);
  pthread_create(&thread, 0, child, 0);
  value++;
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, 0);
  pthread_mutex_destroy(&mutex);
  pthread_mutex_init(&mutex, 0);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}
