// A forked child of which the parent's threads are no part: what they wrote before is in its memory, and its own threads
// use locks. Blocks of the heap and findings of the parent do not count in it.
// case c: none
// case exec-later -DEXEC: none
#include <sys/wait.h>
#include "../turns.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int unlocked[4];
static int counter;

static void *busy(void *number) {
  for (int i = 0;; i++) {
    unlocked[(long)number]++;
    free(malloc(i % 100));
    sched_yield();
  }
}

static void *worker(void *unused) {
  for (int i = 0; i < 100; i++) {
    char *block = calloc(1, 100);
    pthread_mutex_lock(&mutex);
    counter += block[i];
    for (int other = 0; other < 4; other++) unlocked[other]++;
    pthread_mutex_unlock(&mutex);
    free(block);
  }
  return unused;
}

int main(int count, char **arguments) {
  pthread_t threads[4];
  if (count > 1) return 0;
  alarm(60);
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, busy, (void *)i);
  for (int i = 0; i < 5; i++) {
    pid_t child = fork();
    if (child == 0) {
      for (int j = 0; j < 3; j++) pthread_create(&threads[j], 0, worker, 0);
      for (int j = 0; j < 3; j++) pthread_join(threads[j], 0);
#ifdef EXEC
      execl("/proc/self/exe", arguments[0], "again", (char *)0);
#endif
      exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  _exit(0);
}
