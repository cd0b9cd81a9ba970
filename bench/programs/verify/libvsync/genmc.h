// What libvsync's tests ask of a model checker and of the C library, for `ravelin verify`. Included before everything else.
#pragma once
#include <string.h>
#include <unistd.h>

// A run that is not meant ends here and is right.
static inline void __VERIFIER_assume(int is_meant) {
  if (!is_meant) _exit(0);
}

// Values are no matter of schedules.
static inline int __VERIFIER_nondet_int(void) { return 0; }

// Waiting loops are recognised without a mark.
static inline void __VERIFIER_loop_begin(void) {}
static inline void __VERIFIER_spin_start(void) {}
static inline void __VERIFIER_spin_end(int is_over) { (void)is_over; }

// Of C11's annex K, which glibc does not have. Some tests have their own.
#ifndef HAS_ANNEX_K
static inline int memcpy_s(void *to, size_t room, const void *from, size_t length) {
  if (length > room) return 1;
  memcpy(to, from, length);
  return 0;
}

static inline int memset_s(void *to, size_t room, int byte, size_t length) {
  if (length > room) return 1;
  memset(to, byte, length);
  return 0;
}
#endif
