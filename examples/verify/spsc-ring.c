//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// A ring with one producer and one consumer. The broken consumer gives the room back with a
// relaxed store, so the producer may overwrite what is still being read.
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define GIVE_BACK memory_order_relaxed
#else
#define GIVE_BACK memory_order_release
#endif

enum { ROOM = 2, ELEMENTS = 3 };

static int ring[ROOM];
static atomic_int head, tail;

static void *producer(void *unused) {
  for (int i = 0; i < ELEMENTS; i++) {
    while (i - atomic_load_explicit(&head, memory_order_acquire) == ROOM) {
    }
    ring[i % ROOM] = i + 1;
    atomic_store_explicit(&tail, i + 1, memory_order_release);
  }
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, producer, NULL);
  int wrong = 0;
  for (int i = 0; i < ELEMENTS; i++) {
    while (atomic_load_explicit(&tail, memory_order_acquire) == i) {
    }
    wrong |= ring[i % ROOM] != i + 1;
    atomic_store_explicit(&head, i + 1, GIVE_BACK);
  }
  pthread_join(other, NULL);
  return wrong;
}
