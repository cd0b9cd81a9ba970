// Threads that increment one counter: every order of their steps is another trace, and their number is known.
// The arguments say how often each thread increments.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int counter;

static void *count(void *increments) {
  for (long i = 0; i < (long)increments; i++) atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
  return 0;
}

int main(int words, char **arguments) {
  pthread_t all[16];
  for (int i = 1; i < words && i <= 16; i++) pthread_create(&all[i - 1], 0, count, (void *)atol(arguments[i]));
  for (int i = 1; i < words && i <= 16; i++) pthread_join(all[i - 1], 0);
}
