// A stale read that only RC11's rule for fences allows, in a run that is too long to be looked at as a whole.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int first, second, third, steps;

static void *begin(void *unused) {
  atomic_store_explicit(&first, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  atomic_store_explicit(&second, 1, memory_order_relaxed);
  return unused;
}

static void *pass_on(void *unused) {
  if (atomic_load_explicit(&second, memory_order_relaxed)) atomic_store_explicit(&third, 1, memory_order_relaxed);
  return unused;
}

static void *look(void *unused) {
  if (!atomic_load_explicit(&third, memory_order_relaxed)) return unused;
  atomic_thread_fence(memory_order_seq_cst);
  return atomic_load_explicit(&first, memory_order_relaxed) ? NULL : unused;
}

int main(void) {
  void *(*functions[])(void *) = {begin, pass_on, look};
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, functions[i], NULL);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  for (int step = 0; step < 200000; step++) atomic_store_explicit(&steps, step, memory_order_relaxed);
}
