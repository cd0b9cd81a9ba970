//! Mutual exclusion (Peterson, 1981) with relaxed accesses and one sequentially consistent fence, between what a
//! thread announces and what it looks at. The turn is given by an exchange (Williams, 2008). Two threads enter once.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct peterson {
  atomic_int flag[2];
  atomic_int turn;
};

static struct peterson mutex;
static int counter;

static void lock(struct peterson *p, int me) {
  int other = !me;
  atomic_store_explicit(&p->flag[me], 1, memory_order_relaxed);
  atomic_exchange_explicit(&p->turn, other, memory_order_acq_rel);
  atomic_thread_fence(memory_order_seq_cst);
  while (atomic_load_explicit(&p->flag[other], memory_order_acquire) &&
         atomic_load_explicit(&p->turn, memory_order_acquire) == other) {
  }
}

static void unlock(struct peterson *p, int me) {
  atomic_store_explicit(&p->flag[me], 0, memory_order_release);
}

static void *first(void *unused) {
  lock(&mutex, 0);
  counter = counter + 1;
  unlock(&mutex, 0);
  return unused;
}

static void *second(void *unused) {
  lock(&mutex, 1);
  counter = counter + 1;
  unlock(&mutex, 1);
  return unused;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, first, NULL);
  pthread_create(&two, NULL, second, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  assert(counter == 2);
  return 0;
}
