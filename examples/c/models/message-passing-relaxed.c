//! Message passing whose flag is published with a relaxed store: the data race.
//! expect check tso: robust
//! expect check rc20: race
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: violated
//! expect fence rc20: 1
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct message {
  int number;
  int checksum;
};

static struct message message;
static atomic_bool ready;

static void *producer(void *unused) {
  message.number = 42;
  message.checksum = 42 ^ 7;
  atomic_store_explicit(&ready, true, memory_order_relaxed);
  return unused;
}

static void *consumer(void *unused) {
  while (!atomic_load_explicit(&ready, memory_order_acquire)) {
  }
  assert(message.number == 42);
  assert((message.number ^ message.checksum) == 7);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, producer, NULL);
  pthread_create(&threads[1], NULL, consumer, NULL);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
