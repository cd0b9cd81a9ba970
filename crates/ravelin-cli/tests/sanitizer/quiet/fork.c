// fork with and without exec while threads run; the parent is still watched.
// case plain: none
// case exec -DEXEC: none
// case found-after-fork -DRACE: race w w
#include <sys/wait.h>
#include "../turns.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter, raced;

static void *worker(void *unused) {
  for (int i = 0; i < 200; i++) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void one(void) {
#ifdef RACE
  raced++; //@w
#endif
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  for (int i = 0; i < 5; i++) {
    pid_t child = fork();
    if (child == 0) {
#ifdef EXEC
      execl("/bin/true", "true", (char *)0);
#endif
      raced++;
      _exit(raced != 1);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  pthread_join(thread, 0);
  IN_TURNS(one, one);
}
