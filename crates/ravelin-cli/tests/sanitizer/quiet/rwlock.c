// Readers and writers.
// case c: none
#include "../turns.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int a, b;

static void *worker(void *number) {
  for (int i = 0; i < 300; i++) {
    if ((long)number == 0) {
      if (i % 2) pthread_rwlock_wrlock(&lock);
      else while (pthread_rwlock_trywrlock(&lock)) sched_yield();
      a++;
      b++;
    } else {
      if (i % 2) pthread_rwlock_rdlock(&lock);
      else while (pthread_rwlock_tryrdlock(&lock)) sched_yield();
      if (a != b) abort();
    }
    pthread_rwlock_unlock(&lock);
  }
  return 0;
}

int main(void) { at_once(4, worker); }
