// Signal handlers that use atomics: raised in a thread, and by a timer while threads use the same atomics. A worker may
// hear of the end through a counter first and still read the old flag, once.
// case c: may violation stop stop
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include "../turns.h"

static atomic_long ticks, raised;
static atomic_int stop;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void on_alarm(int number) {
  (void)number;
  atomic_fetch_add_explicit(&ticks, 1, RLX);
}

static void on_raise(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
  atomic_fetch_add_explicit(&raised, 1, RLX);
}

static void *worker(void *unused) {
  for (int i = 0; !atomic_load_explicit(&stop, ACQ); i++) { //@stop
    atomic_fetch_add_explicit(&ticks, 1, RLX);
    if (i % 64 == 0) {
      raise(SIGUSR1);
      pthread_mutex_lock(&mutex);
      counter++;
      pthread_mutex_unlock(&mutex);
    }
  }
  return unused;
}

int main(void) {
  struct sigaction action = {0};
  action.sa_sigaction = on_raise;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGUSR1, &action, 0);
  signal(SIGALRM, on_alarm);
  struct itimerval every = {{0, 500}, {0, 500}};
  setitimer(ITIMER_REAL, &every, 0);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, worker, 0);
  for (int i = 0; i < 20000; i++) atomic_fetch_add_explicit(&raised, 1, RLX);
  atomic_store_explicit(&stop, 1, REL); //@stop
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, 0);
}
