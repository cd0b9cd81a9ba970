// Thousands of detached threads, a few at a time: what each of them knew is forgotten when it ends.
// case c: none
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>

enum { THREADS = 5000, AT_ONCE = 20, MOST_KILOBYTES = 200000 };

static atomic_int alive;

static void *thread(void *unused) {
  pthread_detach(pthread_self());
  atomic_fetch_sub(&alive, 1);
  return unused;
}

int main(void) {
  for (int i = 0; i < THREADS; i++) {
    pthread_t handle;
    atomic_fetch_add(&alive, 1);
    if (pthread_create(&handle, 0, thread, 0)) return 2;
    while (atomic_load(&alive) > AT_ONCE) sched_yield();
  }
  while (atomic_load(&alive)) sched_yield();
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss > MOST_KILOBYTES;
}
