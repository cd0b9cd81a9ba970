// A recursive mutex that is handed over between threads, and locked again while another lock is held.
// case c: none
#define _GNU_SOURCE
#include "../turns.h"

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void *works(void *ignored) {
  for (int i = 0; i < 50; i++) {
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&inner);
    pthread_mutex_lock(&recursive);
    value++;
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&recursive);
  }
  return 0;
}

int main(void) { at_once(3, works); }
