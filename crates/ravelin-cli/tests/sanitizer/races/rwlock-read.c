// A write under a read lock.
// case c: race w w
#include "../turns.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void work(void) {
  pthread_rwlock_rdlock(&lock);
  value++; //@w
  pthread_rwlock_unlock(&lock);
}

int main(void) { IN_TURNS(work, work); }
