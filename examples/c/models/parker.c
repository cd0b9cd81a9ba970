//! The parker of the Java virtual machine (Dice, 2009) with its repair. A thread parks until a condition holds; a
//! permit that is left over is taken without the mutex, and a fence orders that before the next look at the
//! condition.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: holds
//! expect reach sc: no deadlock
//! expect reach tso: no deadlock
//! expect reach rc20: no deadlock
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct parker {
  pthread_mutex_t mutex;
  pthread_cond_t wakeup;
  atomic_bool permit;
};

static struct parker parker = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .wakeup = PTHREAD_COND_INITIALIZER,
    .permit = true, // left over from an earlier wake-up
};
static atomic_bool condition;

static void park(struct parker *p) {
  if (atomic_load_explicit(&p->permit, memory_order_relaxed)) {
    atomic_store_explicit(&p->permit, false, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    return;
  }
  pthread_mutex_lock(&p->mutex);
  while (!atomic_load_explicit(&p->permit, memory_order_relaxed)) pthread_cond_wait(&p->wakeup, &p->mutex);
  atomic_store_explicit(&p->permit, false, memory_order_relaxed);
  pthread_mutex_unlock(&p->mutex);
}

static void unpark(struct parker *p) {
  atomic_thread_fence(memory_order_seq_cst);
  pthread_mutex_lock(&p->mutex);
  bool before = atomic_load_explicit(&p->permit, memory_order_relaxed);
  atomic_store_explicit(&p->permit, true, memory_order_relaxed);
  pthread_mutex_unlock(&p->mutex);
  if (!before) pthread_cond_signal(&p->wakeup);
}

static void *sleeper(void *unused) {
  while (!atomic_load_explicit(&condition, memory_order_relaxed)) park(&parker);
  return unused;
}

static void *waker(void *unused) {
  atomic_store_explicit(&condition, true, memory_order_relaxed);
  unpark(&parker);
  return unused;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, sleeper, NULL);
  pthread_create(&two, NULL, waker, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
