// Threads that do nothing. With a second argument: as many processes, each forked and with such threads, one after the
// other. That is the least that a run can cost.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *argument) { return argument; }

static void threads(int count) {
  pthread_t all[64];
  for (int i = 0; i < count; i++) pthread_create(&all[i], 0, nothing, 0);
  for (int i = 0; i < count; i++) pthread_join(all[i], 0);
}

int main(int words, char **arguments) {
  int count = words > 1 ? atoi(arguments[1]) : 2;
  long processes = words > 2 ? atol(arguments[2]) : 0;
  if (processes == 0) threads(count);
  for (long i = 0; i < processes; i++) {
    pid_t process = fork();
    if (process == 0) {
      threads(count);
      _exit(0);
    }
    if (process < 0 || waitpid(process, 0, 0) != process) return 1;
  }
}
