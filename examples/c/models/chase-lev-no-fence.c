//! The work-stealing deque of Chase and Lev (2005) whose owner has no fence between its store to `bottom` and its
//! look at `top`: it may take a task that has been stolen.
//! expect check tso: not robust, wrong
//! expect check rc20: not robust, wrong
//! expect reach sc: holds
//! expect reach tso: violated
//! expect reach rc20: violated
//! expect fence tso: 1
//! expect fence rc20: 1
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { SIZE = 4, EMPTY = 0, LOST = -1 };

typedef struct {
  atomic_long top;
  atomic_long bottom;
  atomic_int tasks[SIZE];
} deque_t;

static deque_t deque;

static void push(deque_t *d, int task) {
  long b = atomic_load_explicit(&d->bottom, memory_order_relaxed);
  atomic_store_explicit(&d->tasks[b % SIZE], task, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&d->bottom, b + 1, memory_order_relaxed);
}

static int take(deque_t *d) {
  long b = atomic_load_explicit(&d->bottom, memory_order_relaxed) - 1;
  atomic_store_explicit(&d->bottom, b, memory_order_relaxed);
  long t = atomic_load_explicit(&d->top, memory_order_relaxed);
  int task = EMPTY;
  if (t <= b) {
    task = atomic_load_explicit(&d->tasks[b % SIZE], memory_order_relaxed);
    if (t < b) return task;
    // The last task: a thief may want it as well.
    if (!atomic_compare_exchange_strong_explicit(&d->top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
      task = EMPTY;
  }
  atomic_store_explicit(&d->bottom, b + 1, memory_order_relaxed);
  return task;
}

static int steal(deque_t *d) {
  long t = atomic_load_explicit(&d->top, memory_order_acquire);
  atomic_thread_fence(memory_order_seq_cst);
  long b = atomic_load_explicit(&d->bottom, memory_order_acquire);
  if (t >= b) return EMPTY;
  int task = atomic_load_explicit(&d->tasks[t % SIZE], memory_order_relaxed);
  if (!atomic_compare_exchange_strong_explicit(&d->top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
    return LOST;
  return task;
}

struct result {
  int sum;
};

static void *owner(void *argument) {
  struct result *result = argument;
  push(&deque, 1);
  push(&deque, 2);
  int sum = take(&deque);
  result->sum = sum + take(&deque);
  return NULL;
}

static void *thief(void *argument) {
  struct result *result = argument;
  int sum = 0;
  for (int i = 0; i < 2; i++) {
    int task = steal(&deque);
    if (task > 0) sum += task;
  }
  result->sum = sum;
  return NULL;
}

int main(void) {
  struct result kept = {0}, stolen = {0};
  pthread_t one, two;
  pthread_create(&one, NULL, owner, &kept);
  pthread_create(&two, NULL, thief, &stolen);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  // Each task is done once.
  assert(kept.sum + stolen.sum == 3);
  return 0;
}
