//! expect verify: verified
//! expect verify -DBROKEN: violated: stale read
// Each thread announces itself and looks for the other one (the core of Dekker's algorithm). With seq_cst one of them
// sees the other. With release and acquire both may miss it.
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define STORE memory_order_release
#define LOAD memory_order_acquire
#else
#define STORE memory_order_seq_cst
#define LOAD memory_order_seq_cst
#endif

static atomic_int wants[2];

static void *side(void *argument) {
  long me = (long)argument;
  atomic_store_explicit(&wants[me], 1, STORE);
  (void)atomic_load_explicit(&wants[1 - me], LOAD);
  return NULL;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, side, (void *)1);
  side((void *)0);
  pthread_join(other, NULL);
  return 0;
}
