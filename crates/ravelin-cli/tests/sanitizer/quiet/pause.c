// A thread that waits for a signal does not keep another one from waking up.
// case os: none
// case random | --schedule random --runs 5: none
// case pct | --schedule pct --runs 5: none
#include <pthread.h>
#include <unistd.h>

static void *waits(void *argument) {
  for (;;) pause();
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, waits, 0);
  for (int i = 0; i < 3; i++) usleep(1000);
  _exit(0);
}
