// Many phases of a barrier: each thread writes its own cell, then reads its neighbour's.
// case c: none
#include "../turns.h"
#define N 4

static pthread_barrier_t barrier;
static int cells[2][N];
static int serial;

static void *worker(void *argument) {
  long me = (long)argument;
  for (int phase = 0; phase < 100; phase++) {
    cells[phase % 2][me] = phase;
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) serial++;
    if (cells[phase % 2][(me + 1) % N] != phase) abort();
  }
  return 0;
}

int main(void) {
  pthread_barrier_init(&barrier, 0, N);
  at_once(N, worker);
  pthread_barrier_destroy(&barrier);
  return serial != 100;
}
