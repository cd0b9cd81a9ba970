// Programs that make it hard to verify them. The argument names one.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int x, y;

static void *nothing(void *unused) { return unused; }

static void *set(void *unused) {
  atomic_store(&x, 1);
  return unused;
}

static pthread_t started(void *(*function)(void *)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, NULL) != 0) exit(9);
  return thread;
}

// In one of the two schedules there is something to see.
static int sees(void) {
  pthread_t other = started(set);
  int seen = atomic_load(&x);
  pthread_join(other, NULL);
  return seen;
}

static int crash(void) {
  if (sees()) *(volatile int *)8 = 1;
  return 0;
}

static int aborts(void) {
  if (sees()) abort();
  return 0;
}

static int exits(void) {
  if (sees()) exit(3);
  return 0;
}

static void *exiter(void *unused) {
  if (atomic_load(&x)) exit(4);
  return unused;
}

static int thread_exits(void) {
  pthread_t other = started(exiter);
  atomic_store(&x, 1);
  atomic_store(&y, 1);
  pthread_join(other, NULL);
  return 0;
}

static int endless(void) {
  pthread_t other = started(nothing);
  while (!atomic_load(&y)) {
  }
  pthread_join(other, NULL);
  return 0;
}

static int busy(void) {
  pthread_t other = started(nothing);
  for (volatile int i = 0;; i++) {
  }
  pthread_join(other, NULL);
  return 0;
}

static int endless_effects(void) {
  pthread_t other = started(set);
  for (;;) atomic_fetch_add(&y, 1);
  pthread_join(other, NULL);
  return 0;
}

static int endless_looks(void) {
  pthread_t other = started(set);
  for (long i = 0;; i++) {
    if (atomic_load(&y) == i + 1) break;
  }
  pthread_join(other, NULL);
  return 0;
}

static int forks(void) {
  int seen = sees();
  pid_t child = fork();
  if (child == 0) _exit(0);
  int status;
  waitpid(child, &status, 0);
  return seen > 1;
}

static int forks_first(void) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  int status;
  waitpid(child, &status, 0);
  return sees() > 1;
}

static int runs_another(void) {
  if (sees()) execlp("true", "true", NULL);
  return 0;
}

static int prints(void) {
  int seen = sees();
  for (int i = 0; i < 200000; i++) printf("%d %d\n", i, seen);
  return 0;
}

static int prints_first(void) {
  for (int i = 0; i < 1000; i++) printf("%d\n", i);
  return sees() > 1;
}

static int reads(void) {
  int seen = sees();
  char line[100];
  return fgets(line, sizeof line, stdin) != NULL || seen > 1;
}

static int detached(void) {
  pthread_detach(started(set));
  atomic_load(&x);
  return 0;
}

static int early(void) {
  started(set);
  return 0;
}

static int leaves(void) {
  started(set);
  pthread_exit(NULL);
}

static int alone(void) { return atomic_load(&x); }

static int alone_fails(void) { return 5; }

static int many(void) {
  pthread_t others[20];
  for (int i = 0; i < 20; i++) others[i] = started(nothing);
  for (int i = 0; i < 20; i++) pthread_join(others[i], NULL);
  return 0;
}

static void *starts(void *unused) {
  pthread_join(started(set), NULL);
  return unused;
}

static int nested(void) {
  pthread_t other = started(starts);
  int seen = atomic_load(&x);
  pthread_join(other, NULL);
  return seen > 1;
}

static void handler(int number) { atomic_store(&y, number); }

static int handles(void) {
  signal(SIGUSR1, handler);
  pthread_t other = started(set);
  raise(SIGUSR1);
  pthread_join(other, NULL);
  return atomic_load(&y) != SIGUSR1;
}

static int alarms(void) {
  signal(SIGALRM, handler);
  pthread_t other = started(set);
  alarm(1);
  while (!atomic_load(&y)) {
  }
  pthread_join(other, NULL);
  return 0;
}

// Threads that all count: 4! * 4! orders.
static void *counts(void *unused) {
  for (int i = 0; i < 3; i++) atomic_fetch_add(&x, 1);
  return unused;
}

static int large(void) {
  pthread_t others[4];
  for (int i = 0; i < 4; i++) others[i] = started(counts);
  for (int i = 0; i < 4; i++) pthread_join(others[i], NULL);
  return atomic_load(&x) != 12;
}

static void *cancelled(void *unused) {
  for (;;) sleep(1);
  return unused;
}

static int cancels(void) {
  pthread_t other = started(cancelled);
  pthread_cancel(other);
  pthread_join(other, NULL);
  return 0;
}

static int pipes(void) {
  int ends[2];
  char byte = 0;
  if (pipe(ends) != 0) return 9;
  pthread_t other = started(set);
  if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1) return 9;
  pthread_join(other, NULL);
  return 0;
}

static void *exchanges_five(void *unused) {
  int five = 5;
  atomic_compare_exchange_strong(&x, &five, 6);
  return unused;
}

static void *exchanges_zero(void *unused) {
  int zero = 0;
  atomic_compare_exchange_strong(&x, &zero, 6);
  return unused;
}

// A read that is not atomic, beside a compare-exchange.
static int reads_beside(void *(*exchanges)(void *)) {
  pthread_t other = started(exchanges);
  int read = *(volatile int *)&x;
  pthread_join(other, NULL);
  return read == 5;
}

static int exchange_fails(void) { return reads_beside(exchanges_five); }

static int exchange_races(void) { return reads_beside(exchanges_zero); }

static void *kills(void *unused) {
  if (atomic_load(&x)) kill(getpid(), SIGKILL);
  return unused;
}

static int killed(void) {
  pthread_t other = started(kills);
  atomic_store(&x, 1);
  pthread_join(other, NULL);
  return 0;
}

static void *checks(void *unused) {
  while (!atomic_load(&x)) {
  }
  if (atomic_load(&y)) exit(6);
  return unused;
}

static void *set_both(void *unused) {
  atomic_store(&x, 1);
  atomic_store(&y, 1);
  return unused;
}

// The first thread ends before the others, and the last of them ends the process.
static int main_ends(void) {
  pthread_detach(started(checks));
  pthread_detach(started(set));
  pthread_exit(NULL);
}

static int main_ends_and_fails(void) {
  pthread_detach(started(checks));
  pthread_detach(started(set_both));
  pthread_exit(NULL);
}

static const struct {
  const char *name;
  int (*run)(void);
} programs[] = {
    {"crash", crash},           {"abort", aborts},         {"exit", exits},
    {"thread-exits", thread_exits}, {"endless", endless},  {"busy", busy},
    {"endless-effects", endless_effects}, {"endless-looks", endless_looks}, {"forks", forks},
    {"forks-first", forks_first}, {"exec", runs_another},  {"prints", prints},
    {"prints-first", prints_first}, {"reads", reads},      {"detached", detached},
    {"early", early},           {"leaves", leaves},        {"alone", alone},
    {"alone-fails", alone_fails}, {"many", many},          {"nested", nested},
    {"handles", handles},       {"alarms", alarms},        {"large", large},
    {"cancels", cancels},       {"pipes", pipes},          {"killed", killed},
    {"main-ends", main_ends},   {"main-ends-and-fails", main_ends_and_fails},
    {"exchange-fails", exchange_fails}, {"exchange-races", exchange_races},
};

int main(int count, char **arguments) {
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    if (count > 1 && strcmp(arguments[1], programs[i].name) == 0) return programs[i].run();
  return 2;
}
