// Dekker's mutual exclusion in C11, with release and acquire: both threads may enter the critical section at once.
// A race detector that runs it under sequential consistency sees no race; `ravelin run` shows why there is one.
//
//     ravelin cc -O2 -g examples/c/dekker.c -o dekker
//     ravelin run ./dekker
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int wants[2], turn;
static int counter;

static void *side(void *argument) {
  long me = (long)argument, other = 1 - me;
  for (int i = 0; i < 1000; i++) {
    atomic_store_explicit(&wants[me], 1, memory_order_release);
    while (atomic_load_explicit(&wants[other], memory_order_acquire)) {
      if (atomic_load_explicit(&turn, memory_order_acquire) != me) {
        atomic_store_explicit(&wants[me], 0, memory_order_release);
        while (atomic_load_explicit(&turn, memory_order_acquire) != me) {
        }
        atomic_store_explicit(&wants[me], 1, memory_order_release);
      }
    }
    counter++;
    atomic_store_explicit(&turn, (int)other, memory_order_release);
    atomic_store_explicit(&wants[me], 0, memory_order_release);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, side, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("counter is %d\n", counter);
}
