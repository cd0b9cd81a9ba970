// Litmus tests and small algorithms that assert what they need. The first argument chooses one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release
#define SEQ_CST memory_order_seq_cst

static atomic_int x, y;
static int a, b, c, d, shared;

// Store buffering, with several orders.
static memory_order store_order = RELEASE, load_order = ACQUIRE;
static int fences;

static void *sb_left(void *unused) {
  atomic_store_explicit(&x, 1, store_order);
  if (fences) atomic_thread_fence(SEQ_CST);
  a = atomic_load_explicit(&y, load_order);
  return unused;
}

static void *sb_right(void *unused) {
  atomic_store_explicit(&y, 1, store_order);
  if (fences) atomic_thread_fence(SEQ_CST);
  b = atomic_load_explicit(&x, load_order);
  return unused;
}

static void sb_end(void) { assert(a == 1 || b == 1); }

// Message passing.
static memory_order flag_order = ACQUIRE;

static void *mp_writer(void *unused) {
  atomic_store_explicit(&x, 42, RELAXED);
  atomic_store_explicit(&y, 1, RELEASE);
  return unused;
}

static void *mp_reader(void *unused) {
  while (!atomic_load_explicit(&y, flag_order)) {
  }
  a = atomic_load_explicit(&x, RELAXED);
  return unused;
}

static void mp_end(void) { assert(a == 42); }

// 2+2W: the last values are those of the first writes.
static void *two_left(void *unused) {
  atomic_store_explicit(&x, 1, RELEASE);
  atomic_store_explicit(&y, 2, RELEASE);
  return unused;
}

static void *two_right(void *unused) {
  atomic_store_explicit(&y, 1, RELEASE);
  atomic_store_explicit(&x, 2, RELEASE);
  return unused;
}

static void two_end(void) { assert(!(atomic_load(&x) == 1 && atomic_load(&y) == 1)); }

// Dekker's algorithm, once per thread, with an atomic that notices two threads inside.
static atomic_int wants[2], turn, inside;

static void dekker(int me) {
  atomic_store_explicit(&wants[me], 1, store_order);
  if (fences) atomic_thread_fence(SEQ_CST);
  while (atomic_load_explicit(&wants[1 - me], load_order)) {
    if (atomic_load_explicit(&turn, load_order) == me) continue;
    atomic_store_explicit(&wants[me], 0, store_order);
    while (atomic_load_explicit(&turn, load_order) != me) {
    }
    atomic_store_explicit(&wants[me], 1, store_order);
    if (fences) atomic_thread_fence(SEQ_CST);
  }
  assert(atomic_fetch_add_explicit(&inside, 1, RELAXED) == 0);
  atomic_fetch_sub_explicit(&inside, 1, RELAXED);
  atomic_store_explicit(&turn, 1 - me, RELEASE);
  atomic_store_explicit(&wants[me], 0, RELEASE);
}

static void *dekker_left(void *unused) {
  dekker(0);
  return unused;
}

static void *dekker_right(void *unused) {
  dekker(1);
  return unused;
}

// A lock that is right, around memory that is not atomic.
static void *locked(void *unused) {
  for (int i = 0; i < 10; i++) {
    while (atomic_exchange_explicit(&x, 1, ACQUIRE)) {
    }
    shared++;
    atomic_store_explicit(&x, 0, RELEASE);
  }
  return unused;
}

static void locked_end(void) { assert(shared == 20); }

// Counters never lose anything, and a mutex or the end of a thread orders everything.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *counts(void *unused) {
  for (int i = 0; i < 10; i++) {
    atomic_fetch_add_explicit(&x, 1, RELAXED);
    int old = atomic_load_explicit(&y, RELAXED);
    while (!atomic_compare_exchange_weak_explicit(&y, &old, old + 1, RELAXED, RELAXED)) {
    }
    pthread_mutex_lock(&mutex);
    int seen = atomic_load_explicit(&turn, RELAXED);
    atomic_store_explicit(&turn, seen + 1, RELAXED);
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void counts_end(void) {
  assert(atomic_load_explicit(&x, RELAXED) == 20);
  assert(atomic_load_explicit(&y, RELAXED) == 20);
  assert(atomic_load_explicit(&turn, RELAXED) == 20);
}

// One word, accessed by its halves and as a whole: memory has the only value.
static union {
  _Atomic unsigned long long whole;
  _Atomic unsigned half[2];
} word;

static void *halves(void *unused) {
  atomic_fetch_add_explicit(&word.half[0], 1, RELAXED);
  atomic_store_explicit(&word.half[0], 7, RELEASE);
  a = atomic_load_explicit(&word.whole, ACQUIRE) & 0xffffffff;
  atomic_fetch_add_explicit(&word.whole, 1ull << 32, RELAXED);
  return unused;
}

static void *whole(void *unused) {
  atomic_fetch_add_explicit(&word.whole, 1ull << 32, RELAXED);
  return unused;
}

static void halves_end(void) {
  assert(a == 7);
  assert(atomic_load_explicit(&word.whole, RELAXED) == (2ull << 32 | 7));
}

// Independent reads of independent writes.
static void *iriw(void *unused) {
  a = atomic_load_explicit(&x, load_order);
  b = atomic_load_explicit(&y, load_order);
  return unused;
}

static void *iriw_back(void *unused) {
  c = atomic_load_explicit(&y, load_order);
  d = atomic_load_explicit(&x, load_order);
  return unused;
}

static void *write_x(void *unused) {
  atomic_store_explicit(&x, 1, store_order);
  return unused;
}

static void *write_y(void *unused) {
  atomic_store_explicit(&y, 1, store_order);
  return unused;
}

static void iriw_end(void) { assert(!(a == 1 && b == 0 && c == 1 && d == 0)); }

// A spin that ends the process in another way.
static void *never_both(void *unused) {
  (void)unused;
  if (a == 0 && b == 0) exit(3);
  return unused;
}

static void exits_end(void) { never_both(0); }

static void nothing(void) {}

int main(int count, char **arguments) {
  const char *name = count > 1 ? arguments[1] : "";
  void *(*threads[4])(void *) = {0};
  void (*end)(void) = nothing;
  if (strstr(name, "seq-cst")) store_order = load_order = SEQ_CST;
  if (strstr(name, "fences")) fences = 1, store_order = load_order = RELAXED;
  if (strstr(name, "relaxed")) flag_order = RELAXED;
  if (!strncmp(name, "sb", 2)) threads[0] = sb_left, threads[1] = sb_right, end = sb_end;
  if (!strncmp(name, "exit", 4)) threads[0] = sb_left, threads[1] = sb_right, end = exits_end;
  if (!strncmp(name, "mp", 2)) threads[0] = mp_writer, threads[1] = mp_reader, end = mp_end;
  if (!strncmp(name, "2+2w", 4)) threads[0] = two_left, threads[1] = two_right, end = two_end;
  if (!strncmp(name, "dekker", 6)) threads[0] = dekker_left, threads[1] = dekker_right;
  if (!strncmp(name, "lock", 4)) threads[0] = threads[1] = locked, end = locked_end;
  if (!strncmp(name, "counts", 6)) threads[0] = threads[1] = counts, end = counts_end;
  if (!strncmp(name, "halves", 6)) threads[0] = halves, threads[1] = whole, end = halves_end;
  if (!strncmp(name, "iriw", 4)) {
    threads[0] = write_x, threads[1] = write_y, threads[2] = iriw, threads[3] = iriw_back, end = iriw_end;
  }
  pthread_t started[4];
  for (int i = 0; i < 4 && threads[i]; i++) pthread_create(&started[i], 0, threads[i], 0);
  for (int i = 0; i < 4 && threads[i]; i++) pthread_join(started[i], 0);
  end();
  return 0;
}
