//! expect consequence: abort
// A thread waits as long as the door is closed. Under sequential consistency it is closed until the program ends; a stale
// value lets the thread pass.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int closed, told;

static void *pass(void *unused) {
  if (!atomic_load_explicit(&told, memory_order_relaxed)) return unused;
  while (atomic_load_explicit(&closed, memory_order_relaxed)) {
  }
  abort();
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, pass, NULL);
  pthread_detach(thread);
  atomic_store_explicit(&closed, 1, memory_order_relaxed);
  atomic_store_explicit(&told, 1, memory_order_relaxed);
  return 0;
}
