//! A read-write lock in one word: the number of readers, or -1 for a writer. A writer changes two variables; two
//! readers compare them.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
  atomic_int state;
} rwlock_t;

static rwlock_t lock;
static int low, high;

static void read_lock(rwlock_t *l) {
  int readers = atomic_load_explicit(&l->state, memory_order_relaxed);
  while (true) {
    if (readers < 0) {
      readers = atomic_load_explicit(&l->state, memory_order_relaxed);
    } else if (atomic_compare_exchange_weak_explicit(&l->state, &readers, readers + 1, memory_order_acquire,
                                                     memory_order_relaxed)) {
      return;
    }
  }
}

static void read_unlock(rwlock_t *l) { atomic_fetch_sub_explicit(&l->state, 1, memory_order_release); }

static void write_lock(rwlock_t *l) {
  int nobody = 0;
  while (!atomic_compare_exchange_weak_explicit(&l->state, &nobody, -1, memory_order_acquire, memory_order_relaxed))
    nobody = 0;
}

static void write_unlock(rwlock_t *l) { atomic_store_explicit(&l->state, 0, memory_order_release); }

static void *reader(void *unused) {
  read_lock(&lock);
  assert(low == high);
  read_unlock(&lock);
  return unused;
}

static void *writer(void *unused) {
  write_lock(&lock);
  low = 1;
  high = 1;
  write_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t readers[2], other;
  pthread_create(&other, NULL, writer, NULL);
  for (int i = 0; i < 2; i++) pthread_create(&readers[i], NULL, reader, NULL);
  for (int i = 0; i < 2; i++) pthread_join(readers[i], NULL);
  pthread_join(other, NULL);
  assert(low == 1 && high == 1);
  return 0;
}
