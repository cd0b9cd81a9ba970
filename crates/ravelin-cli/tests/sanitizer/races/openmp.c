// What OpenMP does not order: accesses of a region, a loop without its barrier, tasks, two critical sections.
// arguments: the case's name
// flags: -fopenmp
// libraries: -lpthread
// case region: race region region
// case nowait: race nowait-write nowait-read
// case tasks: race task task
// case two-names: race one other
#include <omp.h>
#include <string.h>
#define CASE(name) else if (!strcmp(wanted, name))

static int data[64];

// Gives other threads time to begin, without any order.
static __attribute__((noinline, no_sanitize("thread"))) void linger(void) {
  for (volatile int i = 0; i < 2000000; i++) {}
}

int main(int count, char **arguments) {
  const char *wanted = arguments[1];
  omp_set_num_threads(4);
  if (0) {}
  CASE("region") {
#pragma omp parallel
    {
      linger();
      data[0]++; //@region
    }
  }
  CASE("nowait") {
#pragma omp parallel
    {
#pragma omp for nowait schedule(static)
      for (int i = 0; i < 64; i++) data[i] = 1; //@nowait-write
      int seen = data[(omp_get_thread_num() * 16 + 16) % 64]; //@nowait-read
      linger();
      if (seen > 1) omp_set_num_threads(seen);
    }
  }
  CASE("tasks") {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 8; i++) {
#pragma omp task
      {
        data[0]++; //@task
        linger();
      }
    }
  }
  CASE("two-names") {
#pragma omp parallel
    {
      linger();
#pragma omp critical(first)
      if (omp_get_thread_num() % 2) data[0]++; //@one
#pragma omp critical(second)
      if (omp_get_thread_num() % 2 == 0) data[0]++; //@other
    }
  }
}
