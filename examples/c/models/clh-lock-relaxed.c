//! The queue lock of Craig (1993), Landin and Hagersten (1994) whose waiting load is relaxed: a thread may enter
//! without having seen what its predecessor did.
//! expect check tso: robust
//! expect check rc20: race
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: violated
//! expect fence rc20: 2
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct clh_node {
  atomic_int locked;
};

struct clh_handle {
  struct clh_node *mine;
  struct clh_node *before;
};

static struct clh_node nodes[3];
static _Atomic(struct clh_node *) tail = &nodes[2];
static int counter;

static void clh_acquire(struct clh_handle *handle) {
  atomic_store_explicit(&handle->mine->locked, 1, memory_order_relaxed);
  handle->before = atomic_exchange_explicit(&tail, handle->mine, memory_order_acq_rel);
  while (atomic_load_explicit(&handle->before->locked, memory_order_relaxed) == 1) {
  }
}

static void clh_release(struct clh_handle *handle) {
  atomic_store_explicit(&handle->mine->locked, 0, memory_order_release);
  handle->mine = handle->before;
}

static void *worker(void *argument) {
  struct clh_handle handle = {.mine = argument};
  for (int round = 0; round < 2; round++) {
    clh_acquire(&handle);
    counter += 1;
    clh_release(&handle);
  }
  return NULL;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, worker, &nodes[0]);
  pthread_create(&two, NULL, worker, &nodes[1]);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  assert(counter == 4);
  return 0;
}
