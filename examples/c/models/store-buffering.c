//! Store buffering: each thread stores and then looks at what the other one stores. Release and acquire do not order
//! a store before a load, so both may miss the other's store.
//! expect check tso: not robust, wrong
//! expect check rc20: not robust, wrong
//! expect reach sc: holds
//! expect reach tso: violated
//! expect reach rc20: violated
//! expect fence tso: 2
//! expect fence rc20: 2
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x, y;
static int left_saw, right_saw;

static void *left(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_release);
  left_saw = atomic_load_explicit(&y, memory_order_acquire);
  return unused;
}

static void *right(void *unused) {
  atomic_store_explicit(&y, 1, memory_order_release);
  right_saw = atomic_load_explicit(&x, memory_order_acquire);
  return unused;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, NULL, left, NULL);
  pthread_create(&second, NULL, right, NULL);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  assert(left_saw || right_saw);
  return 0;
}
