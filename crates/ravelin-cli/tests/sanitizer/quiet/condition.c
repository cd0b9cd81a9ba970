// Producers and consumers with condition variables, signalled, broadcast and timed.
// case c: none
#include <errno.h>
#include <time.h>
#include "../turns.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, drained = PTHREAD_COND_INITIALIZER;
static int *slot;

static void *worker(void *number) {
  for (int i = 0; i < 200; i++) {
    pthread_mutex_lock(&mutex);
    if ((long)number % 2) {
      while (slot) pthread_cond_wait(&drained, &mutex);
      slot = malloc(sizeof *slot);
      *slot = i;
      pthread_cond_broadcast(&filled);
      pthread_mutex_unlock(&mutex);
    } else {
      while (!slot) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 1000000;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        int error = pthread_cond_timedwait(&filled, &mutex, &until);
        if (error && error != ETIMEDOUT) abort();
      }
      int *mine = slot;
      slot = 0;
      pthread_cond_signal(&drained);
      pthread_mutex_unlock(&mutex);
      if (*mine < 0) abort();
      free(mine);
    }
  }
  return 0;
}

int main(void) { at_once(4, worker); }
