// A lock is unlocked that no thread holds.
// case mutex: unlock-of-unlocked unlock -
// case twice -DTWICE: unlock-of-unlocked unlock -
// case rwlock -DRWLOCK: unlock-of-unlocked unlock -
// case spin -DSPIN: unlock-of-unlocked unlock -
// case alone -DALONE: unlock-of-unlocked unlock -
#include "../turns.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;

static void unlocks(void) {
#ifdef TWICE
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
#endif
#ifdef RWLOCK
  pthread_rwlock_unlock(&rwlock); //@unlock
#elif defined(SPIN)
  pthread_spin_unlock(&spin); //@unlock
#else
  pthread_mutex_unlock(&mutex); //@unlock
#endif
}

int main(void) {
  pthread_spin_init(&spin, 0);
#ifdef ALONE
  unlocks();
#else
  IN_TURNS(unlocks);
#endif
}
