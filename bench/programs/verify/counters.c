// Threads that increment one counter: every order of their steps is another trace, and their number is known.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int counter;
static int each;

static void *count(void *argument) {
  for (int i = 0; i < each; i++) atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
  return argument;
}

int main(int words, char **arguments) {
  int threads = words > 1 ? atoi(arguments[1]) : 2;
  each = words > 2 ? atoi(arguments[2]) : 2;
  pthread_t all[16];
  for (int i = 0; i < threads; i++) pthread_create(&all[i], 0, count, 0);
  for (int i = 0; i < threads; i++) pthread_join(all[i], 0);
}
