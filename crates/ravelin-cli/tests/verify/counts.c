// Programs whose number of traces is known. The argument names one.
// All but `peeled` have no loops.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "ravelin.h"

static atomic_int x, y, flags[2], turn;

#define STORE(location, value) atomic_store(&location, value)
#define LOAD(location) atomic_load(&location)

static void sb(long me) {
  if (me == 0) STORE(x, 1), (void)LOAD(y);
  else STORE(y, 1), (void)LOAD(x);
}

static void mp(long me) {
  if (me == 0) STORE(x, 1), STORE(y, 1);
  else (void)LOAD(y), (void)LOAD(x);
}

static void iriw(long me) {
  switch (me) {
  case 0: STORE(x, 1); break;
  case 1: STORE(y, 1); break;
  case 2: (void)LOAD(x), (void)LOAD(y); break;
  default: (void)LOAD(y), (void)LOAD(x);
  }
}

// One round: who sees that the other one wants to enter gives up.
static void dekker(long me) {
  STORE(flags[me], 1);
  (void)LOAD(flags[1 - me]);
  STORE(flags[me], 0);
}

static void peterson(long me) {
  STORE(flags[me], 1);
  STORE(turn, 1 - (int)me);
  (void)LOAD(flags[1 - me]);
  (void)LOAD(turn);
  STORE(flags[me], 0);
}

// Lamport's fast mutex. Where it waits it looks once.
static void lamport(long me) {
  int mine = (int)me + 1;
  STORE(flags[me], 1);
  STORE(x, mine);
  if (LOAD(y) != 0) {
    STORE(flags[me], 0);
    (void)LOAD(y);
    return;
  }
  STORE(y, mine);
  if (LOAD(x) != mine) {
    STORE(flags[me], 0);
    (void)LOAD(flags[0]);
    (void)LOAD(flags[1]);
    if (LOAD(y) != mine) {
      (void)LOAD(y);
      return;
    }
  }
  STORE(y, 0);
  STORE(flags[me], 0);
}

// Several threads end the process.
static void ends(long me) {
  (void)me;
  atomic_fetch_add(&x, 1);
  exit(0);
}

// A waiting loop whose first load is a copy of the others, as compilers make them. What it reads in vain is no step.
static void peeled(long me) {
  if (me == 0) {
    ravelin_wait_begin_(&x, 1, sizeof x);
    if (LOAD(x) != 1) {
      while (LOAD(x) != 1) {
      }
    }
    ravelin_wait_end_();
  } else {
    STORE(x, 2);
    STORE(x, 1);
  }
}

static const struct {
  const char *name;
  long threads;
  void (*thread)(long);
} programs[] = {
    {"sb", 2, sb},         {"mp", 2, mp},             {"iriw", 4, iriw},
    {"dekker", 2, dekker}, {"peterson", 2, peterson}, {"lamport", 2, lamport},
    {"ends", 3, ends},     {"peeled", 2, peeled},
};

static void (*thread)(long);

static void *run(void *me) {
  thread((long)me);
  return NULL;
}

int main(int count, char **arguments) {
  pthread_t threads[4];
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    if (count != 2 || strcmp(arguments[1], programs[i].name) != 0) continue;
    thread = programs[i].thread;
    for (long me = 0; me < programs[i].threads; me++) pthread_create(&threads[me], NULL, run, (void *)me);
    for (long me = 0; me < programs[i].threads; me++) pthread_join(threads[me], NULL);
    return 0;
  }
  return 2;
}
