// A variable on the stack of one thread is written by another.
// case c: race w r
#include "../turns.h"

static int *shared;

static void *child(void *argument) {
  *(int *)argument = 7; //@w
  turn_ends();
  return 0;
}

static __attribute__((noinline)) int parent(void) {
  int here = 0;
  pthread_t thread;
  shared = &here;
  pthread_create(&thread, 0, child, &here);
  turn_begins(1);
  int seen = *shared; //@r
  pthread_join(thread, 0);
  return seen;
}

int main(void) { return parent() != 7; }
