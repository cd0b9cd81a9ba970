// A signal handler changes errno of the code that it interrupts.
// case c: errno-change
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void handler(int signal) {
  write(-1, "", 1);
}

static void *interrupted(void *ignored) {
  raise(SIGUSR1);
  return 0;
}

int main(void) {
  pthread_t thread;
  signal(SIGUSR1, handler);
  pthread_create(&thread, 0, interrupted, 0);
  pthread_join(thread, 0);
}
