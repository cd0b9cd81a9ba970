// A work-stealing deque (Chase and Lev) with seq_cst fences: one owner that pushes and pops, three thieves.
// Argument: how many tasks.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SIZE = 1 << 12, THIEVES = 3 };

static _Alignas(64) atomic_long top;
static _Alignas(64) atomic_long bottom;
static _Alignas(64) atomic_int done;
static atomic_long slots[SIZE];
static atomic_long total;

static int push(long task) {
  long b = atomic_load_explicit(&bottom, memory_order_relaxed);
  long t = atomic_load_explicit(&top, memory_order_acquire);
  if (b - t >= SIZE - 1) return 0;
  atomic_store_explicit(&slots[b % SIZE], task, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
  return 1;
}

static long pop(void) {
  long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
  atomic_store_explicit(&bottom, b, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  long t = atomic_load_explicit(&top, memory_order_relaxed), task = 0;
  if (t <= b) {
    task = atomic_load_explicit(&slots[b % SIZE], memory_order_relaxed);
    if (t == b) {
      if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
        task = 0;
      atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
  } else {
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
  }
  return task;
}

static long steal(void) {
  long t = atomic_load_explicit(&top, memory_order_acquire);
  atomic_thread_fence(memory_order_seq_cst);
  long b = atomic_load_explicit(&bottom, memory_order_acquire);
  if (t >= b) return 0;
  long task = atomic_load_explicit(&slots[t % SIZE], memory_order_relaxed);
  if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed)) return 0;
  return task;
}

static void *thief(void *argument) {
  long sum = 0;
  while (!atomic_load_explicit(&done, memory_order_acquire)) {
    long task = steal();
    sum += task;
    if (!task) sched_yield();
  }
  atomic_fetch_add_explicit(&total, sum, memory_order_relaxed);
  return argument;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  long tasks = atol(arguments[1]);
  pthread_t threads[THIEVES];
  long sum = 0, expected = 0;
  for (int i = 0; i < THIEVES; i++) pthread_create(&threads[i], 0, thief, 0);
  for (long i = 1; i <= tasks; i++) {
    expected += i;
    while (!push(i)) sum += pop();
    if (i % 4 == 0) sum += pop();
  }
  while (atomic_load_explicit(&top, memory_order_acquire) < atomic_load_explicit(&bottom, memory_order_relaxed))
    sum += pop();
  atomic_store_explicit(&done, 1, memory_order_release);
  for (int i = 0; i < THIEVES; i++) pthread_join(threads[i], 0);
  return sum + total != expected;
}
