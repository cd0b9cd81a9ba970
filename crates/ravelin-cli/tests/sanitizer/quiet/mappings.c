// Mapped memory is used by one thread, unmapped, and mapped again by another: its past is forgotten.
// case c: none
#define _GNU_SOURCE
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include "../turns.h"
#define SIZE (1 << 16)

static void use(void) {
  for (int i = 0; i < 20; i++) {
    char *block = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(block, i, 1000);
    block[5000]++;
    atomic_store_explicit((atomic_int *)(block + 8192), 1, RLX);
    atomic_store_explicit((atomic_int *)(block + 8196), 1, RLX);
    block = mremap(block, SIZE, 2 * SIZE, MREMAP_MAYMOVE);
    block[SIZE + 1] = 1;
    munmap(block, 2 * SIZE);
  }
}

int main(void) { IN_TURNS(use, use, use); }
