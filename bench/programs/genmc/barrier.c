// Two threads count and meet at a barrier, as `bam.c` in the manual of GenMC.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { THREADS = 2 };

static pthread_barrier_t barrier;
static atomic_int arrived;

static void *worker(void *unused) {
  arrived++;
  pthread_barrier_wait(&barrier);
  assert(arrived == THREADS);
  return unused;
}

int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, worker, NULL);
  return 0;
}
