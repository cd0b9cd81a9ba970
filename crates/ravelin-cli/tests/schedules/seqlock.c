// A sequence lock as Boehm writes it (MSPC 2012): relaxed data between two fences. It is correct and not robust: a reader
// that finds the sequence number of the second write odd may still see the data as they were before the first, and goes
// round once more. That takes a reader that looks just then, which the operating system hardly ever lets happen in so
// short a run.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_uint sequence;
static atomic_int x, y;

static void *writer(void *unused) {
  for (int value = 1; value <= 2; value++) {
    unsigned seen = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, seen + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&x, value, memory_order_relaxed);
    atomic_store_explicit(&y, value, memory_order_relaxed);
    atomic_store_explicit(&sequence, seen + 2, memory_order_release);
  }
  return unused;
}

static void *reader(void *unused) {
  for (;;) {
    unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
    int a = atomic_load_explicit(&x, memory_order_relaxed);
    int b = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    unsigned after = atomic_load_explicit(&sequence, memory_order_relaxed);
    if (before == after && before % 2 == 0) {
      if (a != b) abort();
      return unused;
    }
  }
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, i == 0 ? writer : reader, 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
}
