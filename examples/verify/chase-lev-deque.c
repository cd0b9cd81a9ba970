//! expect verify: verified
//! expect verify -DBROKEN: violated: stale read
// The work-stealing deque of Chase and Lev, with the orders of Lê, Pop, Cohen and Zappa Nardelli (PPoPP 2013). The owner
// takes from one end, a thief steals from the other. The broken owner has no fence between its store to `bottom` and its
// look at `top`: it may miss that the thief has stolen what it takes.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int top, bottom, buffer[2];

static void push(int value) {
  int b = atomic_load_explicit(&bottom, memory_order_relaxed);
  atomic_store_explicit(&buffer[b % 2], value, memory_order_relaxed);
  atomic_store_explicit(&bottom, b + 1, memory_order_release);
}

static int take(void) {
  int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
  atomic_store_explicit(&bottom, b, memory_order_relaxed);
#ifndef BROKEN
  atomic_thread_fence(memory_order_seq_cst);
#endif
  int t = atomic_load_explicit(&top, memory_order_relaxed);
  int value = 0;
  if (t <= b) {
    value = atomic_load_explicit(&buffer[b % 2], memory_order_relaxed);
    if (t == b) {
      if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
        value = 0;
      atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
  } else {
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
  }
  return value;
}

static int steal(void) {
  int t = atomic_load_explicit(&top, memory_order_acquire);
  atomic_thread_fence(memory_order_seq_cst);
  int b = atomic_load_explicit(&bottom, memory_order_acquire);
  if (t >= b) return 0;
  int value = atomic_load_explicit(&buffer[t % 2], memory_order_relaxed);
  if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed)) return 0;
  return value;
}

static void *thief(void *result) {
  *(int *)result = steal();
  *(int *)result += steal();
  return NULL;
}

int main(void) {
  pthread_t other;
  int stolen = 0;
  push(1);
  push(2);
  pthread_create(&other, NULL, thief, &stolen);
  int taken = take();
  pthread_join(other, NULL);
  for (int i = 0; i < 2; i++) taken += take();
  return stolen + taken != 3;
}
