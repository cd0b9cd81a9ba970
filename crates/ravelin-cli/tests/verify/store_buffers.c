// What x86 can do with a program, by its argument: only a store that is delayed behind a later load. Every access is
// relaxed unless it is said otherwise.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int x, y, z;
static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_spinlock_t spins[2];
static _Thread_local volatile int seen;

#define STORE(cell, value) atomic_store_explicit(&cell, value, memory_order_relaxed)
#define LOAD(cell) (seen = atomic_load_explicit(&cell, memory_order_relaxed))
#define THREAD(name, ...) \
  static void *name(void *nothing) { \
    __VA_ARGS__; \
    return nothing; \
  }

// Store buffering, with what is between the store and the load.
#define BUFFERING(name, first, second) \
  THREAD(name##_one, STORE(x, 1); first; LOAD(y)) \
  THREAD(name##_two, STORE(y, 1); second; LOAD(x))

BUFFERING(sb, , )
BUFFERING(fenced, atomic_thread_fence(memory_order_seq_cst), atomic_thread_fence(memory_order_seq_cst))
BUFFERING(half, atomic_thread_fence(memory_order_seq_cst), )
BUFFERING(weaker, atomic_thread_fence(memory_order_acq_rel), atomic_thread_fence(memory_order_acq_rel))
BUFFERING(rmw, atomic_fetch_add_explicit(&z, 1, memory_order_relaxed), atomic_fetch_add_explicit(&z, 1, memory_order_relaxed))

#define EXCHANGE \
  int expected = 7; \
  atomic_compare_exchange_strong_explicit(&z, &expected, 8, memory_order_relaxed, memory_order_relaxed)
BUFFERING(failed, EXCHANGE, EXCHANGE)
BUFFERING(mutex, pthread_mutex_lock(&mutexes[0]); pthread_mutex_unlock(&mutexes[0]),
          pthread_mutex_lock(&mutexes[1]); pthread_mutex_unlock(&mutexes[1]))

// The unlock of a spin lock is a plain store.
THREAD(spin_one, pthread_spin_lock(&spins[0]); STORE(x, 1); pthread_spin_unlock(&spins[0]); LOAD(y))
THREAD(spin_two, pthread_spin_lock(&spins[1]); STORE(y, 1); pthread_spin_unlock(&spins[1]); LOAD(x))

THREAD(seq_cst_one, atomic_store(&x, 1); LOAD(y))
THREAD(seq_cst_two, atomic_store(&y, 1); LOAD(x))

THREAD(mp_one, STORE(x, 1); STORE(y, 1))
THREAD(mp_two, LOAD(y); LOAD(x))
THREAD(w22_one, STORE(x, 1); STORE(y, 2))
THREAD(w22_two, STORE(y, 1); STORE(x, 2))
THREAD(r_one, STORE(x, 1); STORE(y, 1))
THREAD(r_two, STORE(y, 2); LOAD(x))
THREAD(n6_one, STORE(x, 1); LOAD(x); LOAD(y))
THREAD(n6_two, STORE(y, 1); STORE(x, 2))

// A thread parks if there is no permit, and the other one wakes it if it is parked.
THREAD(parker_one, STORE(x, 1); if (LOAD(y)) STORE(z, 1))
THREAD(parker_two, STORE(y, 1); if (!LOAD(x)) STORE(z, 2))

THREAD(write_x, STORE(x, 1))
THREAD(write_y, STORE(y, 1))
THREAD(read_xy, LOAD(x); LOAD(y))
THREAD(read_yx, LOAD(y); LOAD(x))

static const struct {
  const char *name;
  void *(*threads[4])(void *);
} programs[] = {
    {"sb", {sb_one, sb_two}},
    {"fenced", {fenced_one, fenced_two}},
    {"half", {half_one, half_two}},
    {"weaker", {weaker_one, weaker_two}},
    {"rmw", {rmw_one, rmw_two}},
    {"failed", {failed_one, failed_two}},
    {"mutex", {mutex_one, mutex_two}},
    {"spin", {spin_one, spin_two}},
    {"seq-cst", {seq_cst_one, seq_cst_two}},
    {"mp", {mp_one, mp_two}},
    {"2+2w", {w22_one, w22_two}},
    {"r", {r_one, r_two}},
    {"n6", {n6_one, n6_two}},
    {"parker", {parker_one, parker_two}},
    {"iriw", {write_x, write_y, read_xy, read_yx}},
};

int main(int count, char **arguments) {
  pthread_spin_init(&spins[0], 0);
  pthread_spin_init(&spins[1], 0);
  for (size_t i = 0; count > 1 && i < sizeof programs / sizeof *programs; i++) {
    if (strcmp(programs[i].name, arguments[1]) != 0) continue;
    pthread_t threads[4];
    int started = 0;
    for (; started < 4 && programs[i].threads[started]; started++)
      pthread_create(&threads[started], 0, programs[i].threads[started], 0);
    while (started > 0) pthread_join(threads[--started], 0);
    return 0;
  }
  return 2;
}
