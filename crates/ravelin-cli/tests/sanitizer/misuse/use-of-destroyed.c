// A mutex is used after it was destroyed.
// case lock: use-of-destroyed use destroy
// case destroy -DDESTROY: use-of-destroyed use destroy
#include "../turns.h"

static _Atomic int status;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void owner(void) {
  status = pthread_mutex_destroy(&mutex); //@destroy
}

static void other(void) {
#ifdef DESTROY
  status = 1 + pthread_mutex_destroy(&mutex); //@use
#else
  status = pthread_mutex_lock(&mutex); //@use
#endif
}

int main(void) { IN_TURNS(owner, other); }
