// Two producers and two consumers around a bounded queue of many producers and consumers (Vyukov).
// Argument: items of each producer.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SIZE = 1024 };

struct slot {
  atomic_uint sequence;
  unsigned value;
};

static unsigned items;
static struct slot slots[SIZE];
static _Alignas(64) atomic_uint tail;
static _Alignas(64) atomic_uint head;

static int claim(atomic_uint *end, unsigned lag, unsigned *place) {
  *place = atomic_load_explicit(end, memory_order_relaxed);
  for (;;) {
    unsigned sequence = atomic_load_explicit(&slots[*place % SIZE].sequence, memory_order_acquire);
    int difference = (int)(sequence - (*place + lag));
    if (difference < 0) return 0;
    if (difference > 0) *place = atomic_load_explicit(end, memory_order_relaxed);
    else if (atomic_compare_exchange_weak_explicit(end, place, *place + 1, memory_order_relaxed, memory_order_relaxed))
      return 1;
  }
}

static void *produce(void *argument) {
  for (unsigned i = 0, place; i < items; i++) {
    while (!claim(&tail, 0, &place)) sched_yield();
    slots[place % SIZE].value = i;
    atomic_store_explicit(&slots[place % SIZE].sequence, place + 1, memory_order_release);
  }
  return argument;
}

static void *consume(void *argument) {
  unsigned long sum = 0;
  for (unsigned i = 0, place; i < items; i++) {
    while (!claim(&head, 1, &place)) sched_yield();
    sum += slots[place % SIZE].value;
    atomic_store_explicit(&slots[place % SIZE].sequence, place + SIZE, memory_order_release);
  }
  *(unsigned long *)argument = sum;
  return 0;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  items = (unsigned)atol(arguments[1]);
  pthread_t threads[4];
  unsigned long sums[2];
  for (unsigned i = 0; i < SIZE; i++) atomic_init(&slots[i].sequence, i);
  for (int i = 0; i < 2; i++) {
    pthread_create(&threads[i], 0, produce, 0);
    pthread_create(&threads[2 + i], 0, consume, &sums[i]);
  }
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  return sums[0] + sums[1] != (unsigned long)items * (items - 1);
}
