// A read-write lock, a spin lock and a mutex are in the same order or in a circle together.
// case read: lock-order-inversion inner outer
// case write -DWRITE: lock-order-inversion inner outer
#include "../turns.h"

static pthread_rwlock_t outer = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t inner;

static void first(void) {
#ifdef WRITE
  pthread_rwlock_wrlock(&outer);
#else
  pthread_rwlock_rdlock(&outer);
#endif
  pthread_spin_lock(&inner); //@inner
  pthread_spin_unlock(&inner);
  pthread_rwlock_unlock(&outer);
}

static void second(void) {
  pthread_spin_lock(&inner);
  pthread_rwlock_wrlock(&outer); //@outer
  pthread_rwlock_unlock(&outer);
  pthread_spin_unlock(&inner);
}

int main(void) {
  pthread_spin_init(&inner, 0);
  IN_TURNS(first, second);
}
