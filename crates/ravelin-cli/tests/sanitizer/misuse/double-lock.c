// A thread locks a lock that it holds, and waits for itself.
// case mutex: double-lock again lock
// case spin -DSPIN: double-lock again lock
// case rwlock -DRWLOCK: double-lock again lock
#include "../turns.h"

#ifdef RWLOCK
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
#define LOCK pthread_rwlock_rdlock
#define AGAIN pthread_rwlock_wrlock
#elif defined(SPIN)
static pthread_spinlock_t lock;
#define LOCK pthread_spin_lock
#define AGAIN pthread_spin_lock
#else
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK pthread_mutex_lock
#define AGAIN pthread_mutex_lock
#endif

static void twice(void) {
  LOCK(&lock); //@lock
  AGAIN(&lock); //@again
}

int main(void) {
#ifdef SPIN
  pthread_spin_init(&lock, 0);
#endif
  IN_TURNS_LAST_BLOCKS(twice);
}
