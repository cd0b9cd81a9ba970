// C11's mutexes in different orders.
// case c11: lock-order-inversion b a
#include <threads.h>
#include "../turns.h"

static mtx_t a, b;

static void first(void) {
  mtx_lock(&a);
  mtx_lock(&b); //@b
  mtx_unlock(&b);
  mtx_unlock(&a);
}

static void second(void) {
  mtx_lock(&b);
  mtx_lock(&a); //@a
  mtx_unlock(&a);
  mtx_unlock(&b);
}

int main(void) {
  mtx_init(&a, mtx_plain);
  mtx_init(&b, mtx_plain);
  IN_TURNS(first, second);
}
