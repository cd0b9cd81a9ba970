// What is remembered of a buffer that is written byte by byte is some times the buffer, not forty times. The program measures
// it itself.
// case plain: none
#include <stdio.h>
#include <sys/resource.h>
#include "../turns.h"

enum { SIZE = 1 << 22 };

static volatile char buffers[2][SIZE];

static void *fill(void *argument) {
  volatile char *buffer = buffers[(long)argument];
  for (int i = 0; i < SIZE; i++) buffer[i] = (char)i;
  return 0;
}

int main(void) {
  at_once(2, fill);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  if (usage.ru_maxrss > 100000) {
    fprintf(stderr, "%ld KB\n", usage.ru_maxrss);
    return 3;
  }
}
