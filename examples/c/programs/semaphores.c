//! A bounded buffer with two semaphores: one counts free slots, the other one those that are filled.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach sc: no deadlock
//! expect reach rc20: holds
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
    slots[i % SLOTS] = i + 1;
    sem_post(&full);
  }
  return unused;
}

static void *consumer(void *unused) {
  for (int i = 0; i < ITEMS; i++) {
    sem_wait(&full);
    assert(slots[i % SLOTS] == i + 1);
    sem_post(&empty);
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
