// What OpenMP orders: regions, barriers, critical sections, locks, reductions, single, ordered, tasks, dependences.
// arguments: the case's name
// flags: -fopenmp
// libraries: -lpthread
// case region: none
// case barrier: none
// case critical: none
// case lock: none
// case reduction: none
// case loop: none
// case single: none
// case ordered: none
// case sections: none
// case tasks: none
// case dependences: none
// case taskloop: none
// case nested: none
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#define CASE(name) else if (!strcmp(wanted, name))
#define N 100

static int parts[N], sum, count;
static omp_lock_t lock;

static void check(int is_right) {
  if (!is_right) abort();
}

static int all(void) {
  int found = 0;
  for (int i = 0; i < N; i++) found += parts[i];
  return found;
}

int main(int arguments_count, char **arguments) {
  const char *wanted = arguments[1];
  omp_set_num_threads(4);
  omp_init_lock(&lock);
  for (int round = 1; round < 20; round++) {
    sum = count = 0;
    memset(parts, 0, sizeof parts);
    if (0) {}
    CASE("region") {
#pragma omp parallel
      parts[omp_get_thread_num()] = 1;
      check(all() > 0);
    }
    CASE("barrier") {
#pragma omp parallel
      {
        parts[omp_get_thread_num()] = 1;
#pragma omp barrier
        check(all() == omp_get_num_threads());
      }
    }
    CASE("critical") {
#pragma omp parallel
      {
#pragma omp critical
        count++;
#pragma omp critical(named)
        sum++;
      }
      check(count == sum);
    }
    CASE("lock") {
#pragma omp parallel
      {
        omp_set_lock(&lock);
        count++;
        omp_unset_lock(&lock);
        while (!omp_test_lock(&lock)) {}
        count++;
        omp_unset_lock(&lock);
      }
      check(count > 1);
    }
    CASE("reduction") {
      long total = 0;
#pragma omp parallel for reduction(+ : sum, total) reduction(max : count)
      for (int i = 0; i < N; i++) sum += i, total -= i, count = i > count ? i : count;
      check(sum == N * (N - 1) / 2 && total == -sum && count == N - 1);
    }
    CASE("loop") {
#pragma omp parallel
      {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < N; i++) parts[i] = 1;
        check(all() == N);
#pragma omp barrier
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++) parts[i]++;
      }
#pragma omp parallel for schedule(guided)
      for (int i = 0; i < N; i++) parts[i]++;
      check(all() == 3 * N);
    }
    CASE("single") {
#pragma omp parallel
      {
#pragma omp single
        count = round;
        check(count == round);
        int mine;
#pragma omp single copyprivate(mine)
        mine = count;
        check(mine == round);
      }
    }
    CASE("ordered") {
#pragma omp parallel for ordered schedule(dynamic)
      for (int i = 0; i < N; i++) {
#pragma omp ordered
        count = i;
      }
      check(count == N - 1);
    }
    CASE("sections") {
#pragma omp parallel sections
      {
#pragma omp section
        sum = 1;
#pragma omp section
        count = 1;
      }
      check(sum + count == 2);
    }
    CASE("tasks") {
#pragma omp parallel
#pragma omp single
      {
        for (int i = 0; i < N; i++) {
          sum = i;
#pragma omp task firstprivate(i)
          parts[i] = i;
        }
#pragma omp taskwait
        check(all() == N * (N - 1) / 2);
#pragma omp taskgroup
        {
#pragma omp task
          count++;
        }
        count++;
      }
      check(count == 2);
    }
    CASE("dependences") {
#pragma omp parallel
#pragma omp single
      for (int i = 0; i < N; i++) {
#pragma omp task depend(inout : count)
        count++;
      }
      check(count == N);
    }
    CASE("taskloop") {
#pragma omp parallel
#pragma omp single
      {
#pragma omp taskloop
        for (int i = 0; i < N; i++) parts[i] = 1;
        check(all() == N);
      }
    }
    CASE("nested") {
      omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
      {
        int mine[4] = {0};
#pragma omp parallel num_threads(2) shared(mine)
        mine[omp_get_thread_num()] = 1;
#pragma omp atomic
        count += mine[0];
      }
      check(count == 2);
    }
    else return 2;
  }
}
