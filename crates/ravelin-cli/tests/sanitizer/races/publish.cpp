// An object is published through a plain pointer.
// case c: race w r, may race
#include <string>
#include "../turns.h"

struct Config {
  std::string name = "a name that is longer than the small buffer";
  int value = 7;
};

static Config *current;

static void publish() {
  current = new Config; //@w
}

static void use() {
  if (current && current->value != 7) abort(); //@r
}

int main() {
  turn_function *functions[] = {publish, use};
  in_turns(2, functions, 1);
}
