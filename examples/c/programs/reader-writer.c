//! Two readers and two writers of a pair of values, with a lock of POSIX.
//! expect check tso: robust
//! expect check rc20: robust
//! expect reach sc: holds
//! expect reach rc20: holds
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int length, checksum;

static void *writer(void *unused) {
  pthread_rwlock_wrlock(&lock);
  length++;
  checksum++;
  pthread_rwlock_unlock(&lock);
  return unused;
}

static void *reader(void *unused) {
  pthread_rwlock_rdlock(&lock);
  assert(length == checksum);
  pthread_rwlock_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, i < 2 ? writer : reader, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  assert(length == 2);
  return 0;
}
