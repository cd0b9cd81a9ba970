//! A ticket lock: a thread draws a number and waits until it is served. Three threads take the lock once.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  _Atomic uint16_t next;
  _Atomic uint16_t serving;
} ticket_lock_t;

enum { THREADS = 3 };

static ticket_lock_t lock;
static unsigned counter;

static void ticket_lock(ticket_lock_t *l) {
  uint16_t mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
  while (atomic_load_explicit(&l->serving, memory_order_acquire) != mine) {
  }
}

static void ticket_unlock(ticket_lock_t *l) {
  uint16_t now = atomic_load_explicit(&l->serving, memory_order_relaxed);
  atomic_store_explicit(&l->serving, (uint16_t)(now + 1), memory_order_release);
}

static void *worker(void *unused) {
  ticket_lock(&lock);
  counter++;
  ticket_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  assert(counter == THREADS);
  return 0;
}
