// Nanoseconds of processor time for each kind of access, where one thread makes it again and again and no other thread
// is there but one that sleeps: the best of seven times.
// Argument: how often.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { APART = 16, PLACES = 64, TIMES = 7 };

static atomic_long places[PLACES * APART]; // each in cache lines of its own
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *sleeper(void *argument) {
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
  return argument;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

#define MEASURE(name, access)                      \
  do {                                             \
    double best = 1e18;                            \
    for (int time = 0; time < TIMES; time++) {     \
      double begun = now();                        \
      for (long i = 0; i < count; i++) { access; } \
      double took = (now() - begun) / count;       \
      if (took < best) best = took;                \
    }                                              \
    printf("%-34s %6.1f\n", name, best);           \
  } while (0)

#define LOAD(place, order) ((void)atomic_load_explicit(&places[(place) * APART], order))
#define STORE(place, order) atomic_store_explicit(&places[(place) * APART], i, order)
#define ADD(order) ((void)atomic_fetch_add_explicit(&places[0], 1, order))

int main(int words, char **arguments) {
  long count = words > 1 ? atol(arguments[1]) : 300000;
  pthread_t thread;
  pthread_mutex_lock(&gate);
  pthread_create(&thread, 0, sleeper, 0);
  MEASURE("load relaxed", LOAD(0, memory_order_relaxed));
  MEASURE("load acquire, 64 locations", LOAD(i % PLACES, memory_order_acquire));
  MEASURE("store relaxed and load elsewhere", STORE(1, memory_order_relaxed); LOAD(0, memory_order_acquire));
  MEASURE("store relaxed", STORE(0, memory_order_relaxed));
  MEASURE("store release", STORE(0, memory_order_release));
  MEASURE("store release, 64 locations", STORE(i % PLACES, memory_order_release));
  MEASURE("fetch_add relaxed", ADD(memory_order_relaxed));
  MEASURE("fetch_add acq_rel", ADD(memory_order_acq_rel));
  MEASURE("fetch_add seq_cst", ADD(memory_order_seq_cst));
  pthread_mutex_unlock(&gate);
  pthread_join(thread, 0);
}
