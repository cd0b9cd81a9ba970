// Each thread but the first writes its cell, one more than the cell before it; the first one looks for the last cell that
// is zero. A program of the paper on optimal reduction (JACM 2017): weaker reductions begin runs that show nothing new.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int cells[17];
static long writers;

static void *work(void *argument) {
  long me = (long)argument;
  if (me > 0) {
    atomic_store(&cells[me], atomic_load(&cells[me - 1]) + 1);
  } else {
    for (long i = writers; atomic_load(&cells[i]) != 0;) i--;
  }
  return 0;
}

int main(int words, char **arguments) {
  writers = words > 1 ? atol(arguments[1]) : 2;
  pthread_t all[17];
  for (long i = 0; i <= writers && i <= 16; i++) pthread_create(&all[i], 0, work, (void *)i);
  for (long i = 0; i <= writers && i <= 16; i++) pthread_join(all[i], 0);
}
