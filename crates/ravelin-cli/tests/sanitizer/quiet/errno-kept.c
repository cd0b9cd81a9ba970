// Signal handlers that leave errno as it was, or restore it, or end the interrupted code.
// case c: none
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t times;

static void restores(int signal) {
  int before = errno;
  write(-1, "", 1);
  errno = before;
}

static void only_counts(int signal) { times++; }

static void *interrupted(void *ignored) {
  raise(SIGUSR1);
  raise(SIGUSR2);
  return 0;
}

int main(void) {
  pthread_t thread;
  signal(SIGUSR1, restores);
  signal(SIGUSR2, only_counts);
  pthread_create(&thread, 0, interrupted, 0);
  pthread_join(thread, 0);
}
