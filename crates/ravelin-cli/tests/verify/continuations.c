// What comes after a stale value: the argument chooses.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 3 };

static atomic_int data, ready, order;
static const char *what;

static int is(const char *name) { return strcmp(what, name) == 0; }

static void *publish(void *unused) {
  atomic_store_explicit(&data, 1, memory_order_relaxed);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  for (int round = 0; round < ROUNDS; round++) {
    if (is("one-in-many") || is("all")) atomic_fetch_add(&order, 1);
    if (is("lines")) dprintf(1, "thread\n");
  }
  return unused;
}

int main(int count, char **arguments) {
  what = count > 1 ? arguments[1] : "all";
  pthread_t thread;
  pthread_create(&thread, NULL, publish, NULL);
  int result = 0;
  if (is("long") || is("too-long")) {
    int steps = is("long") ? 40000 : 200000;
    for (int step = 0; step < steps; step++) atomic_store_explicit(&order, step, memory_order_relaxed);
    if (atomic_load_explicit(&ready, memory_order_relaxed))
      result = atomic_load_explicit(&data, memory_order_relaxed) ? 0 : 3;
  } else if (atomic_load_explicit(&ready, memory_order_relaxed)) {
    int seen = atomic_load_explicit(&data, memory_order_relaxed);
    int at[ROUNDS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
      if (is("one-in-many") || is("all")) at[round] = atomic_fetch_add(&order, 1);
      if (is("lines")) dprintf(1, "main\n");
    }
    // In one of twenty orders of what follows.
    if (is("one-in-many") && !seen && at[0] == 1 && at[1] == 3 && at[2] == 5) abort();
    // Something that differs from run to run is no consequence.
    if (is("process")) printf("%d\n", (int)getpid());
  }
  pthread_join(thread, NULL);
  return result;
}
