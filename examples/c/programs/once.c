//! A table that the first thread that needs it prepares.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach rc20: holds
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static int table[2];

static void prepare(void) {
  for (int i = 0; i < 2; i++) table[i] += i + 1;
}

static void *worker(void *unused) {
  pthread_once(&prepared, prepare);
  assert(table[0] == 1 && table[1] == 2);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
