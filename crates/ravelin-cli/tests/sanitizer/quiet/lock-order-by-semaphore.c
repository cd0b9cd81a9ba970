// A thread locks in another order only after a semaphore or a barrier has told it that the other thread is done.
// case semaphore: none
// case barrier -DBARRIER: none
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static sem_t done;
static pthread_barrier_t barrier;

static void both(pthread_mutex_t *one, pthread_mutex_t *two) {
  pthread_mutex_lock(one);
  pthread_mutex_lock(two);
  pthread_mutex_unlock(two);
  pthread_mutex_unlock(one);
}

static void *child(void *ignored) {
#ifdef BARRIER
  pthread_barrier_wait(&barrier);
#else
  sem_wait(&done);
#endif
  both(&b, &a);
  return 0;
}

int main(void) {
  pthread_t thread;
  sem_init(&done, 0, 0);
  pthread_barrier_init(&barrier, 0, 2);
  pthread_create(&thread, 0, child, 0);
  both(&a, &b);
#ifdef BARRIER
  pthread_barrier_wait(&barrier);
#else
  sem_post(&done);
#endif
  pthread_join(thread, 0);
}
