// Threads that end by pthread_exit in nested frames, and by cancellation, with cleanup handlers and keys.
// case c: none
#include "../turns.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static int counter, cleaned, dropped;

static void drop(void *block) {
  pthread_mutex_lock(&mutex);
  dropped++;
  pthread_mutex_unlock(&mutex);
  free(block);
}

static void clean(void *unused) {
  (void)unused;
  cleaned++;
  pthread_mutex_unlock(&mutex);
}

static __attribute__((noinline)) void leave(int levels) {
  if (levels == 0) pthread_exit(&counter);
  leave(levels - 1);
}

static void *leaver(void *unused) {
  pthread_setspecific(key, malloc(8));
  pthread_mutex_lock(&mutex);
  counter++;
  pthread_mutex_unlock(&mutex);
  leave(20);
  return unused;
}

static void *cancelled(void *unused) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(clean, 0);
  counter++;
  for (;;) usleep(1000);
  pthread_cleanup_pop(1);
  return unused;
}

int main(void) {
  pthread_key_create(&key, drop);
  for (int i = 0; i < 10; i++) {
    pthread_t one, two;
    void *result;
    pthread_create(&one, 0, leaver, 0);
    pthread_join(one, &result);
    if (result != &counter) return 1;
    pthread_create(&two, 0, cancelled, 0);
    usleep(2000);
    pthread_cancel(two);
    pthread_join(two, &result);
    if (result != PTHREAD_CANCELED) return 2;
  }
  return counter != 20 || cleaned != 10 || dropped != 10;
}
