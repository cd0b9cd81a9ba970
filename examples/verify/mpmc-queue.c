//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// Vyukov's bounded queue for any number of producers and consumers: each cell has a number that says whose turn it is.
// The broken producer writes that number with a relaxed store.
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define PUBLISH memory_order_relaxed
#else
#define PUBLISH memory_order_release
#endif

enum { CELLS = 2 };

static struct {
  atomic_uint sequence;
  int value;
} cells[CELLS];
static atomic_uint head, tail;

static int enqueue(int value) {
  unsigned position = atomic_load_explicit(&tail, memory_order_relaxed);
  for (;;) {
    unsigned sequence = atomic_load_explicit(&cells[position % CELLS].sequence, memory_order_acquire);
    if (sequence == position) {
      if (atomic_compare_exchange_strong_explicit(&tail, &position, position + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
        break;
    } else if ((int)(sequence - position) < 0) {
      return 0;
    } else {
      position = atomic_load_explicit(&tail, memory_order_relaxed);
    }
  }
  cells[position % CELLS].value = value;
  atomic_store_explicit(&cells[position % CELLS].sequence, position + 1, PUBLISH);
  return 1;
}

static int dequeue(void) {
  unsigned position = atomic_load_explicit(&head, memory_order_relaxed);
  for (;;) {
    unsigned sequence = atomic_load_explicit(&cells[position % CELLS].sequence, memory_order_acquire);
    if (sequence == position + 1) {
      if (atomic_compare_exchange_strong_explicit(&head, &position, position + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
        break;
    } else if ((int)(sequence - (position + 1)) < 0) {
      return 0;
    } else {
      position = atomic_load_explicit(&head, memory_order_relaxed);
    }
  }
  int value = cells[position % CELLS].value;
  atomic_store_explicit(&cells[position % CELLS].sequence, position + CELLS, memory_order_release);
  return value;
}

static void *producer(void *unused) {
  enqueue(2);
  return unused;
}

int main(void) {
  for (unsigned i = 0; i < CELLS; i++) atomic_store_explicit(&cells[i].sequence, i, memory_order_relaxed);
  pthread_t other;
  pthread_create(&other, NULL, producer, NULL);
  enqueue(1);
  int sum = dequeue();
  pthread_join(other, NULL);
  for (int i = 0; i < 2; i++) sum += dequeue();
  return sum != 3;
}
