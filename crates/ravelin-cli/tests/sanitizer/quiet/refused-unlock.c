// An unlock that is refused releases nothing, and does not lose what the owner released.
// case error-checking -DKIND=PTHREAD_MUTEX_ERRORCHECK: none
// case recursive -DKIND=PTHREAD_MUTEX_RECURSIVE: none
#define _GNU_SOURCE
#include <errno.h>
#include "../turns.h"

static pthread_mutex_t mutex;
static int data;

static void owner(void) {
  pthread_mutex_lock(&mutex);
  data = 1;
  pthread_mutex_unlock(&mutex);
}

static void stranger(void) {
  if (pthread_mutex_unlock(&mutex) != EPERM) abort();
}

static void next(void) {
  pthread_mutex_lock(&mutex);
  if (data != 1) abort();
  pthread_mutex_unlock(&mutex);
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, KIND);
  pthread_mutex_init(&mutex, &attributes);
  IN_TURNS(owner, stranger, next);
}
