//! What precedes every program in C: how it chooses, computes, jumps back and stops, in a run and in a model.

pub(super) const PRELUDE: &str = r#"#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "ravelin.h"

#define HELPER static inline __attribute__((unused))

/* Some value of lo..=hi. */
#ifdef __RAVELIN__
signed char __VERIFIER_nondet_char(void);
long __VERIFIER_nondet_long(void);
void __VERIFIER_assume(int);
HELPER long long any(unsigned long long *seed, long long lo, long long hi) {
  int few = (unsigned long long)hi - (unsigned long long)lo < 256;
  long long value = few ? lo + 128 + __VERIFIER_nondet_char() : __VERIFIER_nondet_long();
  __VERIFIER_assume(lo <= value && value <= hi);
  return (void)seed, value;
}
#else
HELPER long long any(unsigned long long *seed, long long lo, long long hi) {
  *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
  unsigned long long size = (unsigned long long)hi - (unsigned long long)lo + 1;
  return (long long)((unsigned long long)lo + (size ? (*seed >> 20) % size : *seed));
}
#endif

#ifdef __RAVELIN__
HELPER long long divide(long long a, long long b) { return assert(b != 0), a / b; }
HELPER long long modulo(long long a, long long b) { return assert(b != 0), a % b; }
HELPER long long shift_left(long long a, long long b) {
  return assert(0 <= b && b < 64), (long long)((unsigned long long)a << b);
}
HELPER long long shift_right(long long a, long long b) { return assert(0 <= b && b < 64), a >> b; }
HELPER long long unsigned_divide(long long a, long long b) {
  return assert(b != 0), (unsigned long long)a / (unsigned long long)b;
}
HELPER long long unsigned_modulo(long long a, long long b) {
  return assert(b != 0), (unsigned long long)a % (unsigned long long)b;
}
HELPER long long shift_in_zeros(long long a, long long b) {
  return assert(0 <= b && b < 64), (unsigned long long)a >> b;
}
#else
HELPER long long divide(long long a, long long b) { return b == 0 || b == -1 ? -a * (b != 0) : a / b; }
HELPER long long modulo(long long a, long long b) { return b == 0 || b == -1 ? 0 : a % b; }
HELPER long long shift_left(long long a, long long b) { return (long long)((unsigned long long)a << (b & 63)); }
HELPER long long shift_right(long long a, long long b) { return a >> (b & 63); }
HELPER long long unsigned_divide(long long a, long long b) { return b ? (unsigned long long)a / (unsigned long long)b : 0; }
HELPER long long unsigned_modulo(long long a, long long b) { return b ? (unsigned long long)a % (unsigned long long)b : 0; }
HELPER long long shift_in_zeros(long long a, long long b) { return (unsigned long long)a >> (b & 63); }
#endif
HELPER long long not_and(long long a, long long b) { return ~(a & b); }
HELPER long long larger(long long a, long long b) { return a > b ? a : b; }
HELPER long long smaller(long long a, long long b) { return a < b ? a : b; }
HELPER long long unsigned_larger(long long a, long long b) { return (unsigned long long)a > (unsigned long long)b ? a : b; }
HELPER long long unsigned_smaller(long long a, long long b) { return (unsigned long long)a < (unsigned long long)b ? a : b; }

/* The value congruent to v in lo..=hi. */
HELPER long long wrap(__int128 v, long long lo, long long hi) {
  __int128 size = (__int128)hi - lo + 1, offset = (v - lo) % size;
  return (long long)(lo + (offset < 0 ? offset + size : offset));
}

/* A thread jumps back, cannot go on, leaves a type or an array, or fails an assertion. */
#ifdef __RAVELIN__
#define rounds 0
#define ROUND()
#define STOP() __VERIFIER_assume(0)
#define FAULT() assert(!"a value leaves its type, or an index its array")
#define FAIL(name) assert(!"an assertion of " name)
#else
static long rounds = 100;
#define ROUND() if (left_over-- <= 0) OVER()
#define STOP() goto end
#define FAULT() goto end
#define FAIL(name) { fputs("an assertion of " name " fails\n", stderr); goto end; }
#endif

#ifdef __RAVELIN__
#define MEET()
#define LEAVE()
#elif defined VERIFY
#define MEET()
#define LEAVE()
/* Others may wait for what the thread would have done next. They go on as far as they can. */
#define OVER() exit(0)
#else
static atomic_int ended;
static pthread_barrier_t start __attribute__((unused)); /* threads are short; so they meet */
#define MEET() pthread_barrier_wait(&start)
#define LEAVE() atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed)
#define OVER() goto end
#endif

"#;
