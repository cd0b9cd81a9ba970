// A program that replaces itself by another: what is found in both is told, also when an attempt has failed before.
// case list -DLIST: race first first, race second second
// case vector: race first first, race second second
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "../turns.h"

extern char **environ;
static int data;

static void before(void) {
  data++; //@first
}

static void after(void) {
  data--; //@second
}

int main(int count, char **arguments) {
  if (errno != 0) return 2;
  if (count == 8) {
    if (strcmp(arguments[7], "seven") || !getenv("WITH_ENVIRONMENT")) return 3;
    IN_TURNS(after, after);
    return 0;
  }
  IN_TURNS(before, before);
  execl("/nowhere/at/all", "nowhere", (char *)0);
  if (errno != ENOENT) return 4;
  setenv("WITH_ENVIRONMENT", "1", 1);
#ifdef LIST
  execle("/proc/self/exe", arguments[0], "one", "two", "three", "four", "five", "six", "seven", (char *)0, environ);
#else
  char *others[] = {arguments[0], "one", "two", "three", "four", "five", "six", "seven", 0};
  execv("/proc/self/exe", others);
#endif
  return 5;
}
