//! expect consequence: standstill
// With the stale value a thread locks a mutex twice.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int unlocked, ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *finish(void *unused) {
  atomic_store_explicit(&unlocked, 1, memory_order_relaxed);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, finish, NULL);
  pthread_mutex_lock(&lock);
  if (atomic_load_explicit(&ready, memory_order_relaxed)) {
    if (!atomic_load_explicit(&unlocked, memory_order_relaxed)) pthread_mutex_lock(&lock);
  }
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
  return 0;
}
