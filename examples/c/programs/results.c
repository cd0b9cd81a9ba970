//! Threads that return what they found, a recursive mutex, and a variable that each thread has of its own. How many items
//! there are is any number up to three.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach rc20: holds
#include <assert.h>
#include <stddef.h>
#include <threads.h>

unsigned __VERIFIER_nondet_uint(void);
void __VERIFIER_assume(int);

static mtx_t lock;
static unsigned left;
static _Thread_local int taken;

static int take(void) {
  mtx_lock(&lock);
  int some = left > 0;
  if (some) left--;
  mtx_unlock(&lock);
  return some;
}

static int worker(void *unused) {
  (void)unused;
  mtx_lock(&lock);
  while (take()) taken++;
  mtx_unlock(&lock);
  return taken;
}

int main(void) {
  unsigned items = __VERIFIER_nondet_uint();
  __VERIFIER_assume(items <= 3);
  left = items;
  mtx_init(&lock, mtx_plain | mtx_recursive);
  thrd_t threads[2];
  int found[2];
  for (int i = 0; i < 2; i++) thrd_create(&threads[i], worker, NULL);
  for (int i = 0; i < 2; i++) thrd_join(threads[i], &found[i]);
  assert(found[0] + found[1] == (int)items && taken == 0);
  return 0;
}
