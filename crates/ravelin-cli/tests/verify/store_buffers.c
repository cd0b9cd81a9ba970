// What x86 can do with a program, by its argument: only a store that is delayed behind a later load. Every access is
// relaxed unless it is said otherwise.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int x, y, z;
static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_spinlock_t spins[2];
static _Thread_local volatile int seen;

// Locks that main has taken, and those that are free.
static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER, recursive;
static pthread_rwlock_t taken_rw = PTHREAD_RWLOCK_INITIALIZER, free_rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t empty, full;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void nothing(void) {}

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

// The same with a fence in one thread and a call in the other: one of the C library that locks the bus, or one that
// only looks.
#define BESIDE_FENCE(name, call) BUFFERING(name, atomic_thread_fence(memory_order_seq_cst), call)

BESIDE_FENCE(locks, pthread_mutex_lock(&mutexes[0]))
BESIDE_FENCE(tries, pthread_mutex_trylock(&mutexes[0]))
BESIDE_FENCE(reads, pthread_rwlock_rdlock(&free_rw))
BESIDE_FENCE(writes, pthread_rwlock_wrlock(&free_rw))
BESIDE_FENCE(spins, pthread_spin_lock(&spins[0]))
BESIDE_FENCE(waits, sem_wait(&full))
BESIDE_FENCE(fails, pthread_mutex_trylock(&taken))
BESIDE_FENCE(fails_to_read, pthread_rwlock_tryrdlock(&taken_rw))
BESIDE_FENCE(fails_to_write, pthread_rwlock_trywrlock(&taken_rw))
BESIDE_FENCE(finds_empty, sem_trywait(&empty))
BESIDE_FENCE(signals, pthread_cond_signal(&condition))
BESIDE_FENCE(finds_done, pthread_once(&once, nothing))
THREAD(nests_one, pthread_mutex_lock(&recursive); STORE(x, 1); pthread_mutex_lock(&recursive);
       pthread_mutex_unlock(&recursive); LOAD(y))

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
    {"locks", {locks_one, locks_two}},
    {"tries", {tries_one, tries_two}},
    {"reads", {reads_one, reads_two}},
    {"writes", {writes_one, writes_two}},
    {"spins", {spins_one, spins_two}},
    {"waits", {waits_one, waits_two}},
    {"fails", {fails_one, fails_two}},
    {"fails-to-read", {fails_to_read_one, fails_to_read_two}},
    {"fails-to-write", {fails_to_write_one, fails_to_write_two}},
    {"finds-empty", {finds_empty_one, finds_empty_two}},
    {"signals", {signals_one, signals_two}},
    {"finds-done", {finds_done_one, finds_done_two}},
    {"nests", {nests_one, fenced_two}},
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
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &attributes);
  sem_init(&empty, 0, 0);
  sem_init(&full, 0, 1);
  pthread_mutex_lock(&taken);
  pthread_rwlock_wrlock(&taken_rw);
  pthread_once(&once, nothing);
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
