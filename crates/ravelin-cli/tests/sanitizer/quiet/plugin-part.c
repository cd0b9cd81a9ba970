// part of plugin.c
#include <stdatomic.h>

static atomic_int count;
static int plain;
static atomic_flag lock = ATOMIC_FLAG_INIT;

int step(void) {
  while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
  }
  plain++;
  int now = plain;
  atomic_flag_clear_explicit(&lock, memory_order_release);
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  return now;
}
