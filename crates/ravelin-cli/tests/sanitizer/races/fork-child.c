// A race between threads of a forked child, whose parent has one thread, has several, or raced at the same place.
// case of-one-thread: race w w
// case of-several-threads -DSEVERAL: race w w
// case after-the-same-race -DSEVERAL -DRACE: race w w
// case in-a-grandchild -DGRANDCHILD: race w w
#include <sys/wait.h>
#include "../turns.h"

static int data, other;

static void *waits(void *unused) {
  for (;;) pause();
  return unused;
}

static void one(void) {
  data++; //@w
}

int main(void) {
#ifdef SEVERAL
  pthread_t thread;
  pthread_create(&thread, 0, waits, 0);
#endif
#ifdef RACE
  IN_TURNS(one, one);
#endif
  for (int level = 0; level < 2; level++) {
    pid_t child = fork();
    if (child != 0) {
      int status;
      return waitpid(child, &status, 0) != child || status != 0;
    }
#ifndef GRANDCHILD
    break;
#endif
  }
  turn_now = 0;
  IN_TURNS(one, one);
  exit(0);
}
