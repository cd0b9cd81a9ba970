// What a stale value leads to: the argument chooses.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int data, ready, second, turn, wants[2];
static int plain, result;
static volatile int spins;
static _Atomic(int *) pointer;
static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *what;

static int is(const char *name) { return strcmp(what, name) == 0; }

// Publishes with relaxed stores, so that who sees the flag may miss the data.
static void *publish(void *unused) {
  static int object = 7;
  if (is("abort") || is("not-decided")) {
    atomic_store_explicit(&wants[1], 1, memory_order_relaxed);
    if (!atomic_load_explicit(&wants[0], memory_order_relaxed)) atomic_fetch_add(&turn, 1);
    return unused;
  }
  if (is("rejoins")) {
    atomic_store_explicit(&second, 1, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return unused;
  }
  if (is("standstill")) {
    pthread_mutex_lock(&first_lock);
    pthread_mutex_lock(&second_lock);
    pthread_mutex_unlock(&second_lock);
    pthread_mutex_unlock(&first_lock);
  }
  plain = 1;
  atomic_store_explicit(&pointer, &object, memory_order_relaxed);
  atomic_store_explicit(&data, 1, is("race") ? memory_order_release : memory_order_relaxed);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

static void look(void) {
  if (is("abort") || is("not-decided")) {
    atomic_store_explicit(&wants[0], 1, memory_order_relaxed);
    if (!atomic_load_explicit(&wants[1], memory_order_relaxed)) atomic_fetch_add(&turn, 1);
    return;
  }
  if (!atomic_load_explicit(&ready, memory_order_relaxed)) return;
  if (is("crash")) {
    int *seen = atomic_load_explicit(&pointer, memory_order_relaxed);
    result = *seen == 7 ? 0 : 1;
  } else if (is("loops")) {
    int seen = atomic_load_explicit(&data, memory_order_relaxed);
    while (!seen) spins++;
  } else if (is("exit-code")) {
    result = atomic_load_explicit(&data, memory_order_relaxed) ? 0 : 5;
  } else if (is("race")) {
    // With the newest value it is ordered, with the stale one it is not.
    if (atomic_load_explicit(&data, memory_order_acquire))
      result = plain - 1;
    else
      result = plain == 12345;
  } else if (is("standstill")) {
    if (!atomic_load_explicit(&data, memory_order_relaxed)) {
      pthread_mutex_lock(&first_lock);
      pthread_mutex_lock(&first_lock);
    }
  } else if (is("rejoins")) {
    int seen = atomic_load_explicit(&second, memory_order_relaxed);
    if (!seen) seen = atomic_load(&second);
    atomic_store_explicit(&turn, 1 + seen, memory_order_relaxed);
  }
}

int main(int count, char **arguments) {
  what = count > 1 ? arguments[1] : "rejoins";
  pthread_t thread;
  pthread_create(&thread, NULL, publish, NULL);
  look();
  pthread_join(thread, NULL);
  if (is("abort")) assert(atomic_load(&turn) < 2);
  return result;
}
