// Vyukov's bounded queue of many producers and consumers. The usual orders make it correct but not robust: whoever
// fails to get a slot may be wrong about the reason.
// case usual -DW=REL -DR=ACQ -DU=RLX: may violation
// case seq-cst -DW=SC -DR=SC -DU=SC: none
// case relaxed-slots -DW=RLX -DR=ACQ -DU=RLX: race, may race, may violation
// forgets: while it waits
#include <stdatomic.h>
#include <stdbool.h>
#include "../turns.h"
#define SIZE 8u
#define N 200

struct slot {
  atomic_uint sequence;
  int value;
};

static struct slot slots[SIZE];
static atomic_uint tail, head;

static bool claim(atomic_uint *end, unsigned lag, unsigned *place) {
  *place = atomic_load_explicit(end, U);
  for (;;) {
    int difference = (int)(atomic_load_explicit(&slots[*place % SIZE].sequence, R) - (*place + lag));
    if (difference < 0) return false;
    if (difference > 0) *place = atomic_load_explicit(end, U);
    else if (RAVELIN_CAS_WEAK(end, place, *place + 1, U, U)) return true;
  }
}

static void *worker(void *argument) {
  unsigned place;
  for (int i = 0; i < N;) {
    if ((long)argument % 2 == 0) {
      if (!claim(&tail, 0, &place)) { sched_yield(); continue; }
      slots[place % SIZE].value = i;
      atomic_store_explicit(&slots[place % SIZE].sequence, place + 1, W);
    } else {
      if (!claim(&head, 1, &place)) { sched_yield(); continue; }
      if (slots[place % SIZE].value < 0) abort();
      atomic_store_explicit(&slots[place % SIZE].sequence, place + SIZE, W);
    }
    i++;
  }
  return 0;
}

int main(void) {
  for (unsigned i = 0; i < SIZE; i++) atomic_init(&slots[i].sequence, i);
  at_once(4, worker);
}
