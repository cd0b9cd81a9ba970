// Each thread announces itself and looks for the other one, and at most one may go in. With release and acquire both may
// miss the other: `ravelin run --schedule weak` shows it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2], inside;

static void *enter(void *argument) {
  int me = argument != NULL;
  atomic_store_explicit(&wants[me], 1, memory_order_release);
  if (!atomic_load_explicit(&wants[1 - me], memory_order_acquire)) {
    int others = atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed);
    assert(others == 0);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, enter, NULL);
  pthread_create(&threads[1], NULL, enter, &inside);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
