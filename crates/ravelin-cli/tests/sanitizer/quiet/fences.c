// Fences done right in a hand-over that goes round: relaxed accesses with release and acquire fences. The stock race
// detectors do not understand this.
// case c: none
#include <stdatomic.h>
#include "../turns.h"
#define N 3

static atomic_int turn;
static int payload[4];

static void *worker(void *argument) {
  int me = (int)(long)argument;
  for (int round = 0; round < 100; round++) {
    RAVELIN_WAIT(&turn, round * N + me, RLX);
    atomic_thread_fence(ACQ);
    for (int i = 0; i < 4; i++) payload[i]++;
    atomic_thread_fence(REL);
    atomic_store_explicit(&turn, round * N + me + 1, RLX);
  }
  return 0;
}

int main(void) {
  at_once(N, worker);
  return payload[3] != 300;
}
