// Threads that lock in different orders but never run at the same time: one is joined before the other is started, and
// the first thread locks before and after both.
// case c: none
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *one, pthread_mutex_t *two) {
  pthread_mutex_lock(one);
  pthread_mutex_lock(two);
  pthread_mutex_unlock(two);
  pthread_mutex_unlock(one);
}

static void *forwards(void *ignored) { return both(&a, &b), (void *)0; }
static void *backwards(void *ignored) { return both(&b, &a), (void *)0; }

int main(void) {
  pthread_t thread;
  both(&b, &a);
  pthread_create(&thread, 0, forwards, 0);
  pthread_join(thread, 0);
  both(&b, &a);
  pthread_create(&thread, 0, backwards, 0);
  pthread_join(thread, 0);
  both(&a, &b);
}
