//! expect consequence: abort
//! expect consequence -DUNCHECKED: not-decided
// Dekker's entry protocol without fences: both threads may enter, and the assertion fails. Without the assertion the
// program goes on in a way that it does not under sequential consistency, and ends well.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int wants[2], entered;

static void *enter(void *me) {
  int mine = me != NULL;
  atomic_store_explicit(&wants[mine], 1, memory_order_relaxed);
  if (!atomic_load_explicit(&wants[1 - mine], memory_order_relaxed)) atomic_fetch_add(&entered, 1);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, enter, &thread);
  enter(NULL);
  pthread_join(thread, NULL);
#ifndef UNCHECKED
  assert(atomic_load(&entered) < 2);
#endif
  return 0;
}
