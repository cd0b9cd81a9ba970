//! A sequence lock without fences: the data of a write may become visible before its odd number, and a reader may
//! read them after it has looked at the number again.
//! expect check tso: robust
//! expect check rc20: not robust, wrong
//! expect reach sc: holds
//! expect reach tso: holds
//! expect reach rc20: violated
//! expect fence rc20: 5
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct seqlock {
  atomic_uint sequence;
  atomic_int x, y;
};

static struct seqlock point;

static void write_point(struct seqlock *s, int x, int y) {
  unsigned sequence = atomic_load_explicit(&s->sequence, memory_order_relaxed);
  atomic_store_explicit(&s->sequence, sequence + 1, memory_order_relaxed);
  atomic_store_explicit(&s->x, x, memory_order_relaxed);
  atomic_store_explicit(&s->y, y, memory_order_relaxed);
  atomic_store_explicit(&s->sequence, sequence + 2, memory_order_release);
}

static void read_point(struct seqlock *s, int *x, int *y) {
  unsigned before, after;
  do {
    before = atomic_load_explicit(&s->sequence, memory_order_acquire);
    *x = atomic_load_explicit(&s->x, memory_order_relaxed);
    *y = atomic_load_explicit(&s->y, memory_order_relaxed);
    after = atomic_load_explicit(&s->sequence, memory_order_relaxed);
  } while (before % 2 != 0 || before != after);
}

static void *writer(void *unused) {
  for (int i = 1; i <= 2; i++) write_point(&point, i, -i);
  return unused;
}

static void *reader(void *unused) {
  int x, y;
  read_point(&point, &x, &y);
  assert(x + y == 0);
  return unused;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, writer, NULL);
  pthread_create(&two, NULL, reader, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
