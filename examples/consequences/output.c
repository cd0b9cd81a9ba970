//! expect consequence: output
//! expect consequence -DTO_ERROR: output
//! expect consequence -DORDER: output
//! expect consequence -DSAME: rejoins
// What the program prints is the only thing that differs.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

static atomic_int degrees, ready;

static void *measure(void *unused) {
  atomic_store_explicit(&degrees, 21, memory_order_relaxed);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t thread;
  printf("thermometer\n");
  fflush(stdout);
  pthread_create(&thread, NULL, measure, NULL);
  if (atomic_load_explicit(&ready, memory_order_relaxed)) {
    int seen = atomic_load_explicit(&degrees, memory_order_relaxed);
#if defined(SAME)
    printf("measured%s\n", seen == 12345 ? "!" : "");
#elif defined(ORDER)
    printf(seen ? "first\nsecond\n" : "second\nfirst\n");
#elif defined(TO_ERROR)
    fprintf(stderr, "%d degrees\n", seen);
#else
    printf("%d degrees\n", seen);
#endif
  }
  pthread_join(thread, NULL);
  return 0;
}
