// Functions of the C library touch no more than they must: the bytes beside may belong to another thread.
// arguments: the case's name
// flags: -fno-builtin -D_GNU_SOURCE
// case strlen: none
// case strnlen: none
// case strchr: none
// case strcmp: none
// case strncmp: none
// case memchr: none
// case strtol: none
// case atoi: none
// case snprintf: none
// case snprintf-precision: none
// case strdup: none
// case qsort: none
// case readers: none
#include <stdio.h>
#include <string.h>
#include "../turns.h"
#define CASE(name, ...) if (!strcmp(wanted, name)) { __VA_ARGS__; return 0; }

static const char *wanted;
static char text[64] = "12345 78", other[64] = "12345-78", mine[64];
static volatile long kept;

static int order(const void *left, const void *right) {
  return (left > right) - (left < right);
}

static void *user(void *number) {
  if (!number) {
    if (!strcmp(wanted, "readers")) kept = strlen(text);
    else for (int i = 10; i < 64; i++) text[i] = 'x', other[i] = 'y';
    return 0;
  }
  CASE("readers", if (strlen(text) != 8 || strcmp(text, "12345 78")) abort())
  CASE("strlen", if (strlen(text) != 8) abort())
  CASE("strnlen", if (strnlen(text + 2, 8) != 6) abort())
  CASE("strchr", if (strchr(text, '8') != text + 7) abort())
  CASE("strcmp", if (strcmp(text, other) >= 0) abort())
  CASE("strncmp", if (strncmp(text, "12345 78", 8)) abort())
  CASE("memchr", if (memchr(text, '7', 64) != text + 6) abort())
  CASE("strtol", if (strtol(text, 0, 10) != 12345) abort())
  CASE("atoi", if (atoi(text) != 12345) abort())
  CASE("snprintf", if (snprintf(text, 64, "%d", 1234567) != 7) abort())
  CASE("snprintf-precision", if (snprintf(mine, 64, "%.9s", text) != 8) abort())
  CASE("strdup", free(strdup(text)))
  CASE("qsort", qsort(text, 4, 2, order))
  abort();
}

int main(int count, char **arguments) {
  wanted = arguments[1];
  at_once(2, user);
}
