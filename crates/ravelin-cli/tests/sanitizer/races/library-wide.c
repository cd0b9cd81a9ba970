// Functions of the C library that read or write a wide string while another thread changes it.
// arguments: the case's name
// flags: -fno-builtin
// case wcslen: race w wcslen
// case wcslen | --no-library-calls: none
// case wcsnlen: race w wcsnlen
// case wcscpy: race w wcscpy
// case wcscpy-from: race w wcscpy-from
// case wcsncpy: race w wcsncpy
// case wcscat: race w wcscat
// case wcsncat: race w wcsncat
// case wcscmp: race w wcscmp
// case wcsncmp: race w wcsncmp
// case wcschr: race w wcschr
// case wcsrchr: race w wcsrchr
// case wcsstr: race w wcsstr
// case wcsspn: race w wcsspn
// case wcsdup: race w wcsdup
// case wmemcpy: race w wmemcpy
// case wmemmove: race w wmemmove
// case wmemset: race w wmemset
// case wmemcmp: race w wmemcmp
// case wmemchr: race w wmemchr
// case wcstol: race w wcstol
// case mbstowcs: race w mbstowcs
// case wcstombs: race w wcstombs
// case fgetws: race w fgetws
// case fputws: race w fputws
// case swprintf: race w swprintf
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include "../turns.h"
#define CASE(name, ...) if (!strcmp(wanted, name)) { __VA_ARGS__; return; }

static const char *wanted;
static wchar_t text[256] = L"12345678 and more", other[256] = L"12345678 and more", *end;
static char bytes[256];
static FILE *stream;
static volatile long kept;

static void writer(void) {
  text[5] = L'6'; //@w
}

static void user(void) {
  CASE("wcslen", kept = wcslen(text)) //@wcslen
  CASE("wcsnlen", kept = wcsnlen(text, 6)) //@wcsnlen
  CASE("wcscpy", wcscpy(text, other)) //@wcscpy
  CASE("wcscpy-from", wcscpy(other, text)) //@wcscpy-from
  CASE("wcsncpy", wcsncpy(other, text, 6)) //@wcsncpy
  CASE("wcscat", wcscat(other, text)) //@wcscat
  CASE("wcsncat", wcsncat(text, other, 2)) //@wcsncat
  CASE("wcscmp", kept = wcscmp(other, text)) //@wcscmp
  CASE("wcsncmp", kept = wcsncmp(text, other, 6)) //@wcsncmp
  CASE("wcschr", kept = (long)wcschr(text, L'6')) //@wcschr
  CASE("wcsrchr", kept = (long)wcsrchr(text, L'1')) //@wcsrchr
  CASE("wcsstr", kept = (long)wcsstr(text, L"and")) //@wcsstr
  CASE("wcsspn", kept = wcsspn(text, L"0123456789")) //@wcsspn
  CASE("wcsdup", free(wcsdup(text))) //@wcsdup
  CASE("wmemcpy", wmemcpy(other, text, 6)) //@wmemcpy
  CASE("wmemmove", wmemmove(text, text + 1, 6)) //@wmemmove
  CASE("wmemset", wmemset(text, L'x', 6)) //@wmemset
  CASE("wmemcmp", kept = wmemcmp(text, other, 6)) //@wmemcmp
  CASE("wmemchr", kept = (long)wmemchr(text, L'x', 6)) //@wmemchr
  CASE("wcstol", kept = wcstol(text, &end, 10)) //@wcstol
  CASE("mbstowcs", kept = mbstowcs(text, "12345678", 256)) //@mbstowcs
  CASE("wcstombs", kept = wcstombs(bytes, text, 256)) //@wcstombs
  CASE("fgetws", fgetws(text, 256, stream)) //@fgetws
  CASE("fputws", fputws(text, stream)) //@fputws
  CASE("swprintf", swprintf(text, 256, L"%d", 123456)) //@swprintf
  abort();
}

int main(int count, char **arguments) {
  wanted = arguments[1];
  stream = tmpfile();
  if (!strcmp(wanted, "fgetws")) {
    fputws(L"a line of text\n", stream);
    rewind(stream);
  }
  IN_TURNS(writer, user);
}
