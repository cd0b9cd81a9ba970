// Spinlocks that protect a counter: by exchange, by compare-exchange, by test and test-and-set, by test_and_set.
// case exchange -DEXCHANGE: none
// case compare-exchange -DCOMPARE: none
// case marked -DMARKED: none
// case ttas -DTTAS: none
// case flag -DFLAG: none
// case relaxed-exchange -DEXCHANGE -DR=RLX: race count count
// case relaxed-unlock -DEXCHANGE -DW=RLX: race count count
// forgets: while it waits
#include <stdatomic.h>
#include "../turns.h"
#ifndef R
#define R ACQ
#endif
#ifndef W
#define W REL
#endif

#ifdef FLAG
static atomic_flag flag = ATOMIC_FLAG_INIT;
#else
static atomic_int taken;
#endif
static int counter;

static void lock(void) {
#if defined(EXCHANGE)
  while (atomic_exchange_explicit(&taken, 1, R)) sched_yield();
#elif defined(COMPARE)
  int expected = 0;
  while (!atomic_compare_exchange_weak_explicit(&taken, &expected, 1, R, RLX)) expected = 0, sched_yield();
#elif defined(MARKED)
  RAVELIN_BCAS(&taken, 0, 1, R);
#elif defined(TTAS)
  for (;;) {
    while (atomic_load_explicit(&taken, RLX)) sched_yield();
    if (!atomic_exchange_explicit(&taken, 1, R)) return;
  }
#else
  while (atomic_flag_test_and_set_explicit(&flag, R)) sched_yield();
#endif
}

static void unlock(void) {
#ifdef FLAG
  atomic_flag_clear_explicit(&flag, W);
#else
  atomic_store_explicit(&taken, 0, W);
#endif
}

static void *worker(void *unused) {
  for (int i = 0; i < 500; i++) {
    lock();
    counter++; //@count
    if (i % 16 == 0) sched_yield();
    unlock();
  }
  return unused;
}

int main(void) {
  at_once(3, worker);
  return counter != 1500 && W == REL && R == ACQ;
}
