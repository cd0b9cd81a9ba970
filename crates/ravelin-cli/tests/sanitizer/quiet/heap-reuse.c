// Blocks of the heap go from thread to thread through a mutex, are freed, reallocated and used again for other things:
// what was known about them is forgotten.
// case c: none
#include <stdatomic.h>
#include <string.h>
#include "../turns.h"
#define SLOTS 16

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *slots[SLOTS];

static void *worker(void *number) {
  unsigned seed = (unsigned)(long)number + 1;
  for (int i = 0; i < 3000; i++) {
    seed = seed * 1103515245 + 12345;
    unsigned which = seed >> 16 & (SLOTS - 1), size = 8 + (seed >> 20 & 255);
    char *mine = i % 3 ? malloc(size) : calloc(1, size);
    if (i % 2) memset(mine, i, size);
    else atomic_store_explicit((atomic_int *)mine, i, RLX), atomic_store_explicit((atomic_int *)mine + 1, i, RLX);
    if (i % 5 == 0) mine = realloc(mine, size * 4), mine[size * 4 - 1] = 1;
    pthread_mutex_lock(&mutex);
    char *other = slots[which];
    slots[which] = mine;
    pthread_mutex_unlock(&mutex);
    if (other) {
      other[0]++;
      (void)atomic_load_explicit((atomic_int *)other + 1, RLX);
    }
    free(other);
    // Freed by this thread, perhaps handed out to another without any order between them.
    char *scratch = malloc(32);
    memset(scratch, 1, 32);
    atomic_store_explicit((atomic_int *)scratch, 1, RLX);
    free(scratch);
  }
  return 0;
}

int main(void) { at_once(4, worker); }
