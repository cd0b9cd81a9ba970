// Threads that write to cells of their own and then read the cell of the next thread: few steps conflict.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int cells[16];
static int threads, each;

static void *work(void *argument) {
  long me = (long)argument;
  for (int i = 0; i < each; i++) atomic_store(&cells[me], i + 1);
  atomic_load(&cells[(me + 1) % threads]);
  return 0;
}

int main(int words, char **arguments) {
  threads = words > 1 ? atoi(arguments[1]) : 2;
  each = words > 2 ? atoi(arguments[2]) : 2;
  pthread_t all[16];
  for (long i = 0; i < threads; i++) pthread_create(&all[i], 0, work, (void *)i);
  for (int i = 0; i < threads; i++) pthread_join(all[i], 0);
}
