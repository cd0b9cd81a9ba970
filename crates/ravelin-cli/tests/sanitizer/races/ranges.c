// memcpy, memset, memmove and strcpy touch ranges that overlap in one byte, or not at all.
// case copy -DWRITE=memcpy(buffer,other,N): race w r
// case set -DWRITE=memset(buffer,1,N): race w r
// case move -DWRITE=memmove(buffer,other,N): race w r
// case short-of-it -DWRITE=memcpy(buffer,other,N-1): none
// flags: -fno-builtin
#include <string.h>
#include "../turns.h"
#define N 100

static char buffer[2 * N], other[2 * N], third[2 * N];
static volatile int length = N;

static void writer(void) {
  WRITE; //@w
}

static void reader(void) {
  memcpy(third, buffer + N - 1, (size_t)length); //@r
}

int main(void) { IN_TURNS(writer, reader); }
