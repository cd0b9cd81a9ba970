//! The bounded queue of Vyukov (2010) whose producers announce their data with a relaxed store: the consumer may read
//! a cell before it sees what is in it.
//! expect check tso: robust
//! expect check rc20: not robust, wrong
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: violated
//! expect fence rc20: 2
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  atomic_size_t sequence;
  int data;
} cell_t;

typedef struct {
  cell_t *buffer;
  size_t mask;
  atomic_size_t enqueue_pos;
  atomic_size_t dequeue_pos;
} mpmc_queue_t;

static cell_t cells[2];
static mpmc_queue_t queue;

static void queue_init(mpmc_queue_t *q, cell_t *buffer, size_t size) {
  q->buffer = buffer;
  q->mask = size - 1;
  for (size_t i = 0; i < size; i++) atomic_store_explicit(&buffer[i].sequence, i, memory_order_relaxed);
  atomic_store_explicit(&q->enqueue_pos, 0, memory_order_relaxed);
  atomic_store_explicit(&q->dequeue_pos, 0, memory_order_relaxed);
}

static bool enqueue(mpmc_queue_t *q, int data) {
  cell_t *cell;
  size_t pos = atomic_load_explicit(&q->enqueue_pos, memory_order_relaxed);
  for (;;) {
    cell = &q->buffer[pos & q->mask];
    size_t seq = atomic_load_explicit(&cell->sequence, memory_order_acquire);
    intptr_t dif = (intptr_t)seq - (intptr_t)pos;
    if (dif == 0) {
      if (atomic_compare_exchange_weak_explicit(&q->enqueue_pos, &pos, pos + 1, memory_order_relaxed,
                                                memory_order_relaxed))
        break;
    } else if (dif < 0) {
      return false;
    } else {
      pos = atomic_load_explicit(&q->enqueue_pos, memory_order_relaxed);
    }
  }
  cell->data = data;
  atomic_store_explicit(&cell->sequence, pos + 1, memory_order_relaxed);
  return true;
}

static bool dequeue(mpmc_queue_t *q, int *data) {
  cell_t *cell;
  size_t pos = atomic_load_explicit(&q->dequeue_pos, memory_order_relaxed);
  for (;;) {
    cell = &q->buffer[pos & q->mask];
    size_t seq = atomic_load_explicit(&cell->sequence, memory_order_acquire);
    intptr_t dif = (intptr_t)seq - (intptr_t)(pos + 1);
    if (dif == 0) {
      if (atomic_compare_exchange_weak_explicit(&q->dequeue_pos, &pos, pos + 1, memory_order_relaxed,
                                                memory_order_relaxed))
        break;
    } else if (dif < 0) {
      return false;
    } else {
      pos = atomic_load_explicit(&q->dequeue_pos, memory_order_relaxed);
    }
  }
  *data = cell->data;
  atomic_store_explicit(&cell->sequence, pos + q->mask + 1, memory_order_release);
  return true;
}

static void *producer(void *argument) {
  bool done = enqueue(&queue, *(int *)argument);
  assert(done);
  return NULL;
}

static void *consumer(void *unused) {
  int value;
  if (dequeue(&queue, &value)) assert(value == 7 || value == 9);
  return unused;
}

int main(void) {
  int values[2] = {7, 9};
  pthread_t threads[3];
  queue_init(&queue, cells, 2);
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, producer, &values[i]);
  pthread_create(&threads[2], NULL, consumer, NULL);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  return 0;
}
