//! A sketch of read-copy-update (McKenney and Slingwine, 1998) with readers that say when they read (Desnoyers et
//! al., 2012): the writer publishes a new version, waits for the reader if it may still use the old one, and frees
//! that.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

struct config {
  int width;
  int height;
};

static _Atomic(struct config *) current;
static atomic_bool reading;

static struct config *new_config(int width, int height) {
  struct config *config = malloc(sizeof *config);
  if (config == NULL) abort();
  config->width = width;
  config->height = height;
  return config;
}

static void read_lock(void) {
  atomic_store_explicit(&reading, true, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
}

static void read_unlock(void) { atomic_store_explicit(&reading, false, memory_order_release); }

static void synchronize(void) {
  atomic_thread_fence(memory_order_seq_cst);
  while (atomic_load_explicit(&reading, memory_order_acquire)) {
  }
}

static void *reader(void *unused) {
  read_lock();
  const struct config *config = atomic_load_explicit(&current, memory_order_acquire);
  assert(config->width == 2 * config->height);
  read_unlock();
  return unused;
}

static void *writer(void *unused) {
  struct config *old = atomic_load_explicit(&current, memory_order_relaxed);
  struct config *new = new_config(8, 4);
  atomic_store_explicit(&current, new, memory_order_release);
  synchronize();
  free(old);
  return unused;
}

int main(void) {
  pthread_t one, two;
  atomic_init(&current, new_config(4, 2));
  pthread_create(&one, NULL, reader, NULL);
  pthread_create(&two, NULL, writer, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
