// Programs with problems of which orders and fences remove some, or none.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static int plain, other;
static atomic_int x, y, turn;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static const char *what;

static int is(const char *name) { return strcmp(what, name) == 0; }

static void *run(void *me) {
  int mine = me != NULL;
  if (is("races")) {
    plain += 1;
    other += 1;
  } else if (is("deadlock")) {
    pthread_mutex_t *one = mine ? &first : &second, *two = mine ? &second : &first;
    pthread_mutex_lock(one);
    pthread_mutex_lock(two);
    pthread_mutex_unlock(two);
    pthread_mutex_unlock(one);
  } else if (is("mp")) {
    if (mine) {
      atomic_store_explicit(&x, 1, memory_order_relaxed);
      atomic_store_explicit(&y, 1, memory_order_release);
    } else if (atomic_load_explicit(&y, memory_order_acquire)) {
      atomic_load_explicit(&x, memory_order_relaxed);
    }
  } else {
    if (is("fails-and-sb")) {
      atomic_int *one = mine ? &x : &y, *two = mine ? &y : &x;
      if (mine) {
        atomic_store_explicit(one, 1, memory_order_relaxed);
        atomic_load_explicit(two, memory_order_relaxed);
      } else {
        atomic_store_explicit(one, 1, memory_order_relaxed);
        atomic_load_explicit(two, memory_order_relaxed);
      }
    }
    atomic_store(&turn, 1 + mine);
  }
  return NULL;
}

int main(int count, char **arguments) {
  what = count > 1 ? arguments[1] : "mp";
  pthread_t thread;
  pthread_create(&thread, NULL, run, &thread);
  run(NULL);
  pthread_join(thread, NULL);
  return (is("fails") || is("fails-and-sb")) && atomic_load(&turn) == 2;
}
