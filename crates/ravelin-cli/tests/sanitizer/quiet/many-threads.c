// Ten thousand threads one after another; some fewer that nobody joins.
// case joined: none
// case detached -DDETACHED: none
#include <stdatomic.h>
#include "../turns.h"

static atomic_int done;
static int counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused) {
  pthread_mutex_lock(&mutex);
  counter++;
  pthread_mutex_unlock(&mutex);
  atomic_fetch_add_explicit(&done, 1, REL);
  return unused;
}

#ifdef DETACHED
enum { THREADS = 2000 };
#else
enum { THREADS = 10000 };
#endif

int main(void) {
  for (int i = 0; i < THREADS; i++) {
    pthread_t thread;
    if (pthread_create(&thread, 0, worker, 0)) return 1;
#ifdef DETACHED
    pthread_detach(thread);
    while (atomic_load_explicit(&done, ACQ) <= i) sched_yield();
#else
    pthread_join(thread, 0);
#endif
  }
  return counter != THREADS;
}
