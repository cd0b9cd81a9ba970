// Functions for wide strings touch no more than they must: the characters beside may belong to another thread.
// arguments: the case's name
// flags: -fno-builtin -D_GNU_SOURCE
// case wcslen: none
// case wcsnlen: none
// case wcschr: none
// case wcscmp: none
// case wcsncmp: none
// case wmemchr: none
// case wcstol: none
// case wcsncat: none
// case swprintf: none
// case mbstowcs: none
// case wcsdup: none
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include "../turns.h"
#define CASE(name, ...) if (!strcmp(wanted, name)) { __VA_ARGS__; return 0; }

static const char *wanted;
static wchar_t text[64] = L"12345 78", other[64] = L"12345-78";

static void *user(void *number) {
  if (!number) {
    for (int i = 10; i < 64; i++) text[i] = L'x', other[i] = L'y';
    return 0;
  }
  wchar_t *end;
  CASE("wcslen", if (wcslen(text) != 8) abort())
  CASE("wcsnlen", if (wcsnlen(text + 2, 8) != 6) abort())
  CASE("wcschr", if (wcschr(text, L'8') != text + 7) abort())
  CASE("wcscmp", if (wcscmp(text, other) >= 0) abort())
  CASE("wcsncmp", if (wcsncmp(text, L"12345 78", 8)) abort())
  CASE("wmemchr", if (wmemchr(text, L'7', 64) != text + 6) abort())
  CASE("wcstol", if (wcstol(text, &end, 10) != 12345) abort())
  CASE("wcsncat", wcsncat(text, other, 1))
  CASE("swprintf", if (swprintf(text, 64, L"%d", 1234567) != 7) abort())
  CASE("mbstowcs", if (mbstowcs(text, "1234567", 64) != 7) abort())
  CASE("wcsdup", free(wcsdup(text)))
  abort();
}

int main(int count, char **arguments) {
  wanted = arguments[1];
  at_once(2, user);
}
