// A thread unlocks a lock that another one holds.
// case mutex: unlock-by-another unlock lock
// case rwlock-writer -DLOCK=pthread_rwlock_wrlock -DRWLOCK: unlock-by-another unlock lock
// case rwlock-reader -DLOCK=pthread_rwlock_rdlock -DRWLOCK: unlock-by-another unlock lock
// case spin -DSPIN: unlock-by-another unlock lock
#include "../turns.h"

#ifdef RWLOCK
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
#define UNLOCK pthread_rwlock_unlock
#elif defined(SPIN)
static pthread_spinlock_t lock;
#define LOCK pthread_spin_lock
#define UNLOCK pthread_spin_unlock
#else
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK pthread_mutex_lock
#define UNLOCK pthread_mutex_unlock
#endif

static void owner(void) {
  LOCK(&lock); //@lock
  turn_ends();
  turn_begins(2);
}

static void stranger(void) {
  UNLOCK(&lock); //@unlock
}

int main(void) {
#ifdef SPIN
  pthread_spin_init(&lock, 0);
#endif
  IN_TURNS(owner, stranger);
}
