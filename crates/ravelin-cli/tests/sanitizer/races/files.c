// Files on a disk and devices order nothing, nor does a pipe that is only written.
// case disk -DKIND=0: race w r
// case device -DKIND=1: race w r
// case pipe -DKIND=2: race w r
#include <fcntl.h>
#include <stdio.h>
#include "../turns.h"

static int ends[2], data;

static void writer(void) {
  data = 1; //@w
  if (write(ends[1], "x", 1) != 1) abort();
}

static void reader(void) {
#if KIND == 2
  if (write(ends[1], "x", 1) != 1) abort();
#else
  char byte;
  if (read(ends[0], &byte, 1) != 1) abort();
#endif
  if (data != 1) abort(); //@r
}

int main(void) {
#if KIND == 0
  FILE *file = tmpfile();
  if (!file) abort();
  ends[0] = ends[1] = fileno(file);
  if (write(ends[1], "abc", 3) != 3 || lseek(ends[1], 0, SEEK_SET)) abort();
#elif KIND == 1
  ends[0] = ends[1] = open("/dev/zero", O_RDWR);
#else
  if (pipe(ends)) abort();
#endif
  IN_TURNS(writer, reader);
}
