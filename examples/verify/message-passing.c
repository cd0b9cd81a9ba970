//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// A message and a flag that says it is there.
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define PUBLISH memory_order_relaxed
#else
#define PUBLISH memory_order_release
#endif

static int message;
static atomic_int there;

static void *sender(void *unused) {
  message = 42;
  atomic_store_explicit(&there, 1, PUBLISH);
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, sender, NULL);
  if (atomic_load_explicit(&there, memory_order_acquire) && message != 42) return 1;
  pthread_join(other, NULL);
  return 0;
}
