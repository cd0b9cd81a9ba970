//! expect verify: verified
//! expect verify -DBROKEN: violated: stale read
// A sequence lock: a reader tries again if the number was odd or has changed. The broken one lacks the fence between the
// data and the second look at the number (Boehm, Can seqlocks get along with programming language memory models?).
#include <pthread.h>
#include <stdatomic.h>

static atomic_int sequence, first, second;

static void *writer(void *unused) {
  atomic_store_explicit(&sequence, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&first, 1, memory_order_relaxed);
  atomic_store_explicit(&second, 1, memory_order_relaxed);
  atomic_store_explicit(&sequence, 2, memory_order_release);
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, writer, NULL);
  int before = atomic_load_explicit(&sequence, memory_order_acquire);
  int a = atomic_load_explicit(&first, memory_order_relaxed);
  int b = atomic_load_explicit(&second, memory_order_relaxed);
#ifndef BROKEN
  atomic_thread_fence(memory_order_acquire);
#endif
  int after = atomic_load_explicit(&sequence, memory_order_relaxed);
  int wrong = before % 2 == 0 && before == after && a != b;
  pthread_join(other, NULL);
  return wrong;
}
