// A read-write lock or a spin lock is used after it was destroyed.
// case read: use-of-destroyed use destroy
// case write -DWRITE: use-of-destroyed use destroy
// case try -DTRY: use-of-destroyed use destroy
// case unlock -DUNLOCK: use-of-destroyed use destroy
// case twice -DTWICE: use-of-destroyed use destroy
// case spin -DSPIN: use-of-destroyed use destroy
// case spin-try -DSPIN -DTRY: use-of-destroyed use destroy
// case spin-unlock -DSPIN -DUNLOCK: use-of-destroyed use destroy
// case spin-twice -DSPIN -DTWICE: use-of-destroyed use destroy
#include "../turns.h"

static _Atomic int status;
#ifdef SPIN
static pthread_spinlock_t lock;
#define DO(name) pthread_spin_##name(&lock)
#define TAKE DO(lock)
#define ATTEMPT DO(trylock)
#else
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
#define DO(name) pthread_rwlock_##name(&lock)
#ifdef WRITE
#define TAKE DO(wrlock)
#else
#define TAKE DO(rdlock)
#endif
#define ATTEMPT DO(tryrdlock)
#endif

static void owner(void) {
  status = DO(destroy); //@destroy
}

static void other(void) {
#if defined TWICE
  status = 1 + DO(destroy); //@use
#elif defined TRY
  status = ATTEMPT; //@use
#elif defined UNLOCK
  status = DO(unlock); //@use
#else
  status = TAKE; //@use
#endif
}

int main(void) {
#ifdef SPIN
  pthread_spin_init(&lock, 0);
#endif
  IN_TURNS(owner, other);
}
