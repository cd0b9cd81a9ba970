// Starting and joining threads orders everything, however weak the accesses.
// runs: 1
// case c: none
#include <stdatomic.h>
#include "../turns.h"

atomic_int x, y;
static int payload;

static void *child(void *unused) {
  payload++;
  (void)atomic_load_explicit(&y, RLX);
  atomic_store_explicit(&x, 1, RLX);
  (void)atomic_load_explicit(&y, RLX);
  return unused;
}

int main(void) {
  for (int i = 0; i < 10; i++) {
    pthread_t thread;
    payload++;
    atomic_store_explicit(&y, i, RLX);
    pthread_create(&thread, 0, child, 0);
    pthread_join(thread, 0);
    payload++;
    (void)atomic_load_explicit(&x, RLX);
    (void)atomic_load_explicit(&y, RLX);
  }
}
