// Programs that do not go on, one for each word.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static atomic_int flag;
static int pipes[2];

static void *crossed(void *unused) {
  pthread_mutex_lock(&second);
  pthread_mutex_lock(&first);
  pthread_mutex_unlock(&first);
  pthread_mutex_unlock(&second);
  return unused;
}

static void *waits(void *word) {
  if (!strcmp(word, "condition")) {
    pthread_mutex_lock(&first);
    pthread_cond_wait(&condition, &first);
  } else if (!strcmp(word, "barrier")) {
    pthread_barrier_wait(&barrier);
  } else if (!strcmp(word, "semaphore")) {
    sem_wait(&semaphore);
  } else if (!strcmp(word, "rwlock")) {
    pthread_rwlock_rdlock(&rwlock);
  } else if (!strcmp(word, "livelock")) {
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {}
  } else if (!strcmp(word, "yielding")) {
    while (!atomic_load_explicit(&flag, memory_order_acquire)) usleep(10);
  }
  return 0;
}

int main(int count, char **words) {
  char *word = count > 1 ? words[1] : "";
  pthread_t thread;
  pthread_barrier_init(&barrier, 0, 3);
  sem_init(&semaphore, 0, 0);
  if (!strcmp(word, "crossed")) {
    pthread_create(&thread, 0, crossed, 0);
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
  } else if (!strcmp(word, "twice")) {
    pthread_create(&thread, 0, waits, "");
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&first);
  } else {
    if (!strcmp(word, "rwlock")) pthread_rwlock_wrlock(&rwlock);
    pthread_create(&thread, 0, waits, word);
  }
  pthread_join(thread, 0);
}
