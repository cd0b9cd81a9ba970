// Races inside containers: the positions in this file are found though the accesses are in headers.
// case c: race w r, may race
#include <vector>
#include "../turns.h"

static std::vector<int> numbers(3);

static void writer() {
  numbers[1] = 2; //@w
}

static void reader() {
  if (numbers[1] == 3) abort(); //@r
}

int main() {
  turn_function *functions[] = {writer, reader};
  in_turns(2, functions, 1);
}
