// A block whose zeroes, and nothing else, are published without any order: the reader may see what was there before.
// case published-relaxed: race zeroed read
// case not-wanted | --no-library-calls: none
// case array -DSIZE=5000: race zeroed read
#include <stdatomic.h>
#include "../turns.h"
#ifndef SIZE
#define SIZE 8
#endif

static _Atomic(int *) shared;

static void writer(void) {
  int *block = calloc(SIZE, sizeof(int)); //@zeroed
  atomic_store_explicit(&shared, block, RLX);
}

static void reader(void) {
  int *block = atomic_load_explicit(&shared, RLX);
  if (block[SIZE / 2] != 0) abort(); //@read
}

int main(void) { IN_TURNS(writer, reader); }
