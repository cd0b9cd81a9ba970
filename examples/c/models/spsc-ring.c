//! A ring for one producer and one consumer (Lamport, 1983). Two slots and three items, so that one slot is used
//! again.
//! expect check tso: not robust
//! expect check rc20: not robust
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: holds
//! expect fence tso: 2
//! expect fence rc20: 2
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { SLOTS = 2, ITEMS = 3 };

struct ring {
  _Atomic size_t head; // how many items were taken out
  _Atomic size_t tail; // how many items were put in
  int slots[SLOTS];
};

static struct ring ring;

static void put(struct ring *r, int item) {
  size_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
  while (tail - atomic_load_explicit(&r->head, memory_order_acquire) == SLOTS) {
  }
  r->slots[tail % SLOTS] = item;
  atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
}

static int get(struct ring *r) {
  size_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
  while (atomic_load_explicit(&r->tail, memory_order_acquire) == head) {
  }
  int item = r->slots[head % SLOTS];
  atomic_store_explicit(&r->head, head + 1, memory_order_release);
  return item;
}

static void *producer(void *argument) {
  for (int i = 1; i <= ITEMS; i++) put(argument, i);
  return NULL;
}

static void *consumer(void *argument) {
  for (int i = 1; i <= ITEMS; i++) {
    int item = get(argument);
    assert(item == i);
  }
  return NULL;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, producer, &ring);
  pthread_create(&two, NULL, consumer, &ring);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
