//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// The queue lock of Craig, Landin and Hagersten: each thread waits for a flag of the one before it. The broken one reads
// that flag without acquire.
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define WAIT memory_order_relaxed
#else
#define WAIT memory_order_acquire
#endif

struct node {
  atomic_int locked;
};

static struct node nodes[3];
static _Atomic(struct node *) tail = &nodes[2];
static int counter;

static void *count(void *argument) {
  struct node *mine = argument;
  atomic_store_explicit(&mine->locked, 1, memory_order_relaxed);
  struct node *before = atomic_exchange_explicit(&tail, mine, memory_order_acq_rel);
  while (atomic_load_explicit(&before->locked, WAIT)) {
  }
  counter++;
  atomic_store_explicit(&mine->locked, 0, memory_order_release);
  return NULL;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, count, &nodes[1]);
  count(&nodes[0]);
  pthread_join(other, NULL);
  return counter != 2;
}
