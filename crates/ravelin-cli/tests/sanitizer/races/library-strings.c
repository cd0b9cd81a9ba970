// Functions of the C library that read or write a string while another thread changes it.
// arguments: the case's name
// flags: -fno-builtin
// case strlen: race w strlen
// case strlen | --no-library-calls: none
// case strnlen: race w strnlen
// case strchr: race w strchr
// case strrchr: race w strrchr
// case strstr: race w strstr
// case strcmp: race w strcmp
// case strncmp: race w strncmp
// case strcasecmp: race w strcasecmp
// case strspn: race w strspn
// case memchr: race w memchr
// case memrchr: race w memrchr
// case strdup: race w strdup
// case strtol: race w strtol
// case atoi: race w atoi
// case strncat: race w strncat
// case qsort: race w qsort
// case snprintf: race w snprintf
// case sprintf: race w sprintf
// case snprintf-argument: race w snprintf-argument
// case sscanf: race w sscanf/8
// case sscanf-text: race w sscanf-text
// case localtime_r: race w localtime_r
// case getcwd: race w getcwd
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include "../turns.h"
#define CASE(name, ...) if (!strcmp(wanted, name)) { __VA_ARGS__; return; }

static const char *wanted;
static char text[4096] = "12345678 and more", other[4096] = "12345678 and more";
static time_t now;
static volatile long kept;

static int order(const void *left, const void *right) {
  return (left > right) - (left < right);
}

static void writer(void) {
  text[5] = '6'; //@w
}

static void user(void) {
  CASE("strlen", kept = strlen(text)) //@strlen
  CASE("strnlen", kept = strnlen(text, 6)) //@strnlen
  CASE("strchr", kept = (long)strchr(text, '6')) //@strchr
  CASE("strrchr", kept = (long)strrchr(text, '1')) //@strrchr
  CASE("strstr", kept = (long)strstr(text, "and")) //@strstr
  CASE("strcmp", kept = strcmp(other, text)) //@strcmp
  CASE("strncmp", kept = strncmp(text, other, 6)) //@strncmp
  CASE("strcasecmp", kept = strcasecmp(text, other)) //@strcasecmp
  CASE("strspn", kept = strspn(text, "0123456789")) //@strspn
  CASE("memchr", kept = (long)memchr(text, 'x', 6)) //@memchr
  CASE("memrchr", kept = (long)memrchr(text, '1', 6)) //@memrchr
  CASE("strdup", free(strdup(text))) //@strdup
  CASE("strtol", kept = strtol(text, 0, 10)) //@strtol
  CASE("atoi", kept = atoi(text)) //@atoi
  CASE("strncat", strncat(text, other, 2)) //@strncat
  CASE("qsort", qsort(text, 4, 2, order)) //@qsort
  CASE("snprintf", snprintf(text, 100, "%s", "123456")) //@snprintf
  CASE("sprintf", sprintf(text, "%d", 123456)) //@sprintf
  CASE("snprintf-argument", snprintf(other, 100, "%d %f %s", 1, 2.5, text)) //@snprintf-argument
  CASE("sscanf", sscanf("1 2 3", "%*d%ld%ld", (long *)text, (long *)text + 1)) //@sscanf
  CASE("sscanf-text", sscanf(text, "%ld", (long *)other)) //@sscanf-text
  CASE("localtime_r", localtime_r(&now, (struct tm *)text)) //@localtime_r
  CASE("getcwd", if (!getcwd(text, sizeof text)) abort()) //@getcwd
  abort();
}

int main(int count, char **arguments) {
  wanted = arguments[1];
  if (!strcmp(wanted, "getcwd") && chdir("/usr/lib")) return 2;
  IN_TURNS(writer, user);
}
