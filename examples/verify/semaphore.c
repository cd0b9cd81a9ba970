//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// A semaphore with one unit is a lock. With two units it is none.
#include <pthread.h>
#include <semaphore.h>

#ifdef BROKEN
enum { UNITS = 2 };
#else
enum { UNITS = 1 };
#endif

static sem_t units;
static int counter;

static void *count(void *unused) {
  sem_wait(&units);
  counter++;
  sem_post(&units);
  return unused;
}

int main(void) {
  pthread_t others[2];
  sem_init(&units, 0, UNITS);
  for (int i = 0; i < 2; i++) pthread_create(&others[i], NULL, count, NULL);
  count(NULL);
  for (int i = 0; i < 2; i++) pthread_join(others[i], NULL);
  return counter != 3;
}
