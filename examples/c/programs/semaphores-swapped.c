//! The same buffer with the semaphores swapped at the producer: a slot can be read before it is filled.
//! expect check rc20: race
//! expect reach sc: violated
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

enum { SLOTS = 2, ITEMS = 3 };

static sem_t empty, full;
static int slots[SLOTS];

static void *producer(void *unused) {
  for (int i = 0; i < ITEMS; i++) {
    sem_wait(&empty);
    sem_post(&full);
    slots[i % SLOTS] = i + 1;
  }
  return unused;
}

static void *consumer(void *unused) {
  for (int i = 0; i < ITEMS; i++) {
    sem_wait(&full);
    assert(slots[i % SLOTS] == i + 1);
    // The slot is not given back.
  }
  return unused;
}

int main(void) {
  sem_init(&empty, 0, SLOTS);
  sem_init(&full, 0, 0);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, producer, NULL);
  pthread_create(&threads[1], NULL, consumer, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
