// The functions that compilers call in place of others when they know how much room there is.
// arguments: the case's name
// flags: -O1 -D_FORTIFY_SOURCE=2 -D_GNU_SOURCE
// case snprintf: race w snprintf
// case sprintf: race w sprintf
// case printf: race w printf
// case read: race w read
// case strcpy: race w strcpy
// case strcat: race w strcat
// case strncat: race w strncat
#include <stdio.h>
#include <string.h>
#include "../turns.h"
#define CASE(name, ...) if (!strcmp(wanted, name)) { __VA_ARGS__; return; }

static const char *wanted;
static char text[64] = "12345678";
static volatile int length = 40;
static int ends[2];

static void writer(void) {
  text[5] = '6'; //@w
}

static void user(void) {
  CASE("snprintf", snprintf(text, length, "%s %d", wanted, length)) //@snprintf
  CASE("sprintf", sprintf(text, "%d", 123456 + length)) //@sprintf
  CASE("printf", printf("%s %f\n", text, 1.5)) //@printf
  CASE("read", if (read(ends[0], text, length) != 8) abort()) //@read
  CASE("strcpy", strcpy(text, wanted)) //@strcpy
  CASE("strcat", strcat(text, wanted)) //@strcat
  CASE("strncat", strncat(text, wanted, length)) //@strncat
  abort();
}

int main(int count, char **arguments) {
  wanted = arguments[1];
  if (pipe(ends) || write(ends[1], "abcdefgh", 8) != 8) return 2;
  IN_TURNS(writer, user);
}
