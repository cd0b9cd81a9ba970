// Signals arrive while threads end: their handlers run until the very last moment, when little of the thread is left.
// case c: none
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>
#include <sys/syscall.h>

static atomic_long handled;
static atomic_int running;

static void handler(int signal) {
  (void)signal;
  atomic_fetch_add(&handled, 1);
}

static void *thread(void *unused) {
  pid_t self = syscall(SYS_gettid), process = getpid();
  atomic_store(&running, (int)self);
  // Enough of them to be still arriving when this thread is gone.
  for (int i = 0; i < 3; i++) syscall(SYS_tgkill, process, self, SIGUSR1);
  return unused;
}

static void *sender(void *unused) {
  pid_t process = getpid();
  int target;
  while ((target = atomic_load(&running)) >= 0)
    if (target > 0) syscall(SYS_tgkill, process, target, SIGUSR1);
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_handler = handler};
  pthread_t sending, ending;
  sigaction(SIGUSR1, &action, 0);
  pthread_create(&sending, 0, sender, 0);
  for (int i = 0; i < 300; i++) {
    pthread_create(&ending, 0, thread, 0);
    pthread_join(ending, 0);
  }
  atomic_store(&running, -1);
  pthread_join(sending, 0);
  return handled < 300;
}
