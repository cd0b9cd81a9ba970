// A thread that ended is neither joined nor detached.
// case c: thread-leak start -
// case ignored | --ignore thread-leak: none
#include <pthread.h>
#include <unistd.h>

static volatile int is_over;

static __attribute__((no_sanitize("thread"))) void *ends(void *ignored) {
  is_over = 1;
  return 0;
}

static __attribute__((no_sanitize("thread"))) void awaits(void) {
  while (!is_over) usleep(1000);
  // The thread still has to leave the C library.
  usleep(100000);
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, ends, 0); //@start
  awaits();
}
