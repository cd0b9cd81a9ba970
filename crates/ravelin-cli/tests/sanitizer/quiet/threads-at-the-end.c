// Threads that need no joining: detached ones, one that still runs when the program ends, and one that detaches itself.
// case c: none
#include <pthread.h>
#include <unistd.h>

static void *ends(void *ignored) { return 0; }

static void *detaches(void *ignored) {
  pthread_detach(pthread_self());
  return 0;
}

static void *runs(void *ignored) {
  for (;;) usleep(1000);
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, ends, 0);
  pthread_detach(thread);
  pthread_create(&thread, 0, detaches, 0);
  pthread_create(&thread, 0, runs, 0);
  usleep(100000);
}
