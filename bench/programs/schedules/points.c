// Threads that do nothing but atomic accesses: each is a scheduling point.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_long counters[64];
static long each;

static void *count(void *argument) {
  for (long i = 0; i < each; i++) atomic_fetch_add_explicit(&counters[(long)argument % 2], 1, memory_order_relaxed);
  return 0;
}

int main(int words, char **arguments) {
  int threads = words > 1 ? atoi(arguments[1]) : 2;
  each = (words > 2 ? atol(arguments[2]) : 1000000) / threads;
  pthread_t all[64];
  for (long i = 0; i < threads; i++) pthread_create(&all[i], 0, count, (void *)i);
  for (int i = 0; i < threads; i++) pthread_join(all[i], 0);
}
