// A race on a block that the program allocated with `new`.
// case cpp: race w r
#include "../turns.h"

static int *block;

static void writer() {
  block[3] = 1; //@w
}

static void reader() {
  if (block[3] > 1) abort(); //@r
}

__attribute__((noinline)) static void allocate() {
  block = new int[10]();
}

int main() {
  allocate();
  static turn_function *const both[] = {writer, reader};
  in_turns(2, both, 1);
}
