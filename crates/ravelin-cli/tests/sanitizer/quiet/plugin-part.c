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
  // Behind the unlock this would order it before the next attempt to lock, which may then find the lock taken once more
  // than it could be: harmless, but not robust.
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  atomic_flag_clear_explicit(&lock, memory_order_release);
  return now;
}
