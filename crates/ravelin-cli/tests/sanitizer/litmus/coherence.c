// One location is coherent however weak its accesses.
// case relaxed: none
#include <stdatomic.h>
#include "../turns.h"

atomic_int x;

static void store_twice(void) {
  atomic_store_explicit(&x, 1, RLX);
  atomic_store_explicit(&x, 2, RLX);
}

static void load_twice(void) {
  (void)atomic_load_explicit(&x, RLX);
  (void)atomic_load_explicit(&x, RLX);
}

static void store_load(void) {
  atomic_store_explicit(&x, 3, RLX);
  (void)atomic_load_explicit(&x, RLX);
}

static void load_store(void) {
  (void)atomic_load_explicit(&x, RLX);
  atomic_store_explicit(&x, 4, RLX);
  atomic_fetch_add_explicit(&x, 1, RLX);
}

static void *mixed(void *unused) {
  for (int i = 0; i < 1000; i++) store_load(), load_twice(), load_store(), store_twice();
  return unused;
}

int main(void) {
  IN_TURNS(store_twice, load_twice, store_load, load_store, load_twice);
  at_once(4, mixed);
}
