// pthread spinlocks.
// case c: none
#include "../turns.h"

static pthread_spinlock_t lock;
static int counter;

static void *worker(void *unused) {
  for (int i = 0; i < 300; i++) {
    if (i % 2) pthread_spin_lock(&lock);
    else while (pthread_spin_trylock(&lock)) sched_yield();
    counter++;
    pthread_spin_unlock(&lock);
  }
  return unused;
}

int main(void) {
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  at_once(3, worker);
  return counter != 900;
}
