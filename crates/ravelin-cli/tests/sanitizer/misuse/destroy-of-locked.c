// A lock is destroyed while it is held: by the thread itself, or by another one.
// case mutex: destroy-of-locked destroy lock
// case another -DANOTHER: destroy-of-locked destroy lock
// case rwlock -DRWLOCK: destroy-of-locked destroy lock
#include "../turns.h"

#ifdef RWLOCK
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
#define LOCK pthread_rwlock_rdlock
#define DESTROY pthread_rwlock_destroy
#else
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK pthread_mutex_lock
#define DESTROY pthread_mutex_destroy
#endif

static void owner(void) {
  LOCK(&lock); //@lock
#ifndef ANOTHER
  DESTROY(&lock); //@destroy
#else
  turn_ends();
  turn_begins(2);
#endif
}

static void other(void) {
#ifdef ANOTHER
  DESTROY(&lock); //@destroy
#endif
}

int main(void) { IN_TURNS(owner, other); }
