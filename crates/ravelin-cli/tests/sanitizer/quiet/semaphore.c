// Semaphores hand data over, also when they are posted by a signal handler.
// case c: none
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include "../turns.h"

static sem_t full, empty, from_handler;
static int slot, handled;

static void handler(int number) {
  (void)number;
  handled = 1;
  sem_post(&from_handler);
}

static void *worker(void *number) {
  if (number) {
    for (int i = 0; i < 300; i++) {
      while (sem_wait(&empty)) {}
      slot = i;
      sem_post(&full);
    }
    raise(SIGUSR1);
  } else {
    for (int i = 0; i < 300; i++) {
      if (i % 3 == 0) while (sem_trywait(&full)) sched_yield();
      else if (i % 3 == 1) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 100;
        while (sem_timedwait(&full, &until)) if (errno != EINTR) abort();
      } else while (sem_wait(&full)) {}
      if (slot != i) abort();
      sem_post(&empty);
    }
    while (sem_wait(&from_handler)) {}
    if (!handled) abort();
  }
  return 0;
}

int main(void) {
  sem_init(&full, 0, 0);
  sem_init(&empty, 0, 1);
  sem_init(&from_handler, 0, 0);
  signal(SIGUSR1, handler);
  at_once(2, worker);
}
