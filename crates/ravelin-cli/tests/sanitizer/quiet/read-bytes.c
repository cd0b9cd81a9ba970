// Threads that only read, some bytes of a word at a time, with synchronisation in between: what is remembered of the word
// must not grow with the number of rounds. With anything that grows this takes longer than the tests wait.
// case bytes -DROUNDS=100000: none
// case writer -DROUNDS=20000 -DWRITER: none
// runs: 1
#include "../turns.h"

unsigned char memory[8];
static pthread_mutex_t own[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *argument) {
  long me = (long)argument;
  unsigned random = me + 1;
  for (int round = 0; round < ROUNDS; round++) {
    pthread_rwlock_rdlock(&lock);
    for (int byte = 0; byte < 3; byte++) {
      random = random * 1103515245u + 12345u;
      (void)*(volatile unsigned char *)&memory[random >> 16 & 7];
    }
    pthread_rwlock_unlock(&lock);
    pthread_mutex_lock(&own[me]);
    pthread_mutex_unlock(&own[me]);
#ifdef WRITER
    if (me == 0 && round % 100 == 0) {
      pthread_rwlock_wrlock(&lock);
      memory[round & 7] = round;
      pthread_rwlock_unlock(&lock);
    }
#endif
  }
  return 0;
}

int main(void) { at_once(3, reader); }
