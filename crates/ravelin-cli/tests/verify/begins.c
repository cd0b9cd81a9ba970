// Programs that say where runs begin. The argument names one. What comes before has many schedules of its own.
#include <pthread.h>
#include <ravelin.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int before, x, y, go, ready;
static int plain;
static sem_t posted;

static pthread_t started(void *(*function)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, argument) != 0) exit(9);
  return thread;
}

static void *count(void *times) {
  for (long left = (long)times; left > 0; left--) atomic_fetch_add(&before, 1);
  return NULL;
}

static void *count_wrongly(void *unused) {
  plain++;
  return unused;
}

static void both(void *(*function)(void *), void *argument) {
  pthread_t one = started(function, argument), other = started(function, argument);
  pthread_join(one, NULL);
  pthread_join(other, NULL);
}

// Three schedules.
static void *left(void *unused) {
  atomic_store(&x, 1);
  atomic_load(&y);
  return unused;
}

static void *right(void *unused) {
  atomic_store(&y, 1);
  atomic_load(&x);
  return unused;
}

static void store_buffering(void) {
  pthread_t one = started(left, NULL), other = started(right, NULL);
  pthread_join(one, NULL);
  pthread_join(other, NULL);
}

static int joined(void) {
  both(count, (void *)3);
  ravelin_verify_begin();
  store_buffering();
  return atomic_load(&before) == 6 ? 0 : 1;
}

static int first(void) {
  ravelin_verify_begin();
  store_buffering();
  return 0;
}

static int unmarked(void) {
  store_buffering();
  store_buffering();
  return 0;
}

static int twice(void) {
  both(count, (void *)3);
  ravelin_verify_begin();
  store_buffering();
  ravelin_verify_begin();
  store_buffering();
  return 0;
}

static int twice_from_the_first(void) {
  ravelin_verify_begin();
  store_buffering();
  ravelin_verify_begin();
  store_buffering();
  return 0;
}

static void *test(void *unused) {
  joined();
  return unused;
}

static int thread(void) {
  pthread_join(started(test, NULL), NULL);
  return 0;
}

static void *after_post(void *unused) {
  atomic_store(&ready, 1);
  sem_wait(&posted);
  return right(unused);
}

static int waiting(void) {
  sem_init(&posted, 0, 0);
  pthread_t other = started(after_post, NULL);
  while (!atomic_load(&ready)) {
  }
  ravelin_verify_begin();
  sem_post(&posted);
  left(NULL);
  pthread_join(other, NULL);
  return 0;
}

static void *after_go(void *unused) {
  atomic_store(&ready, 1);
  while (!atomic_load(&go)) {
  }
  return right(unused);
}

static int spinning(void) {
  pthread_t other = started(after_go, NULL);
  while (!atomic_load(&ready)) {
  }
  ravelin_verify_begin();
  atomic_store(&go, 1);
  left(NULL);
  pthread_join(other, NULL);
  return 0;
}

static int running(void) {
  both(count, (void *)3);
  pthread_t other = started(right, NULL);
  ravelin_verify_begin();
  left(NULL);
  pthread_join(other, NULL);
  return 0;
}

static int many(void) {
  both(count, (void *)50000);
  ravelin_verify_begin();
  store_buffering();
  return 0;
}

static void *begin_unless_set(void *unused) {
  if (!atomic_load(&x)) ravelin_verify_begin();
  return unused;
}

static int sometimes(void) {
  pthread_t other = started(begin_unless_set, NULL);
  atomic_store(&x, 1);
  pthread_join(other, NULL);
  return 0;
}

static int race(void) {
  both(count_wrongly, NULL);
  ravelin_verify_begin();
  store_buffering();
  return 0;
}

static void *increment(void *unused) {
  atomic_store(&x, atomic_load(&x) + 1);
  return unused;
}

static int fails(void) {
  both(count, (void *)3);
  ravelin_verify_begin();
  both(increment, NULL);
  return atomic_load(&x) == 2 ? 0 : 3;
}

static int alone(void) {
  both(count, (void *)3);
  ravelin_verify_begin();
  return 0;
}

static int ended(void) {
  ravelin_verify_begin();
  store_buffering();
  ravelin_verify_end();
  store_buffering();
  return 0;
}

static int ended_twice(void) {
  for (int i = 0; i < 2; i++) {
    ravelin_verify_begin();
    store_buffering();
    ravelin_verify_end();
  }
  return 0;
}

static int ended_with_setup(void) {
  both(count, (void *)3);
  ended();
  both(count, (void *)20000);
  return atomic_load(&before) == 40006 ? 0 : 1;
}

// The other thread may do all that it does before the end.
static int ended_while_running(void) {
  pthread_t other = started(right, NULL);
  left(NULL);
  ravelin_verify_end();
  pthread_join(other, NULL);
  return 0;
}

static int ended_while_waiting(void) {
  sem_init(&posted, 0, 0);
  pthread_t other = started(after_post, NULL);
  left(NULL);
  ravelin_verify_end();
  sem_post(&posted);
  left(NULL);
  pthread_join(other, NULL);
  return 0;
}

static int fails_after(void) {
  both(increment, NULL);
  ravelin_verify_end();
  both(count, (void *)3);
  return atomic_load(&x) == 2 ? 0 : 3;
}

int main(int count, char **words) {
  static const struct {
    const char *name;
    int (*function)(void);
  } all[] = {
      {"joined", joined},   {"first", first},     {"unmarked", unmarked},   {"twice", twice},
      {"thread", thread},   {"waiting", waiting}, {"spinning", spinning},   {"running", running},
      {"many", many},       {"race", race},       {"sometimes", sometimes}, {"fails", fails},
      {"alone", alone},     {"twice-from-the-first", twice_from_the_first},
      {"ended", ended},     {"ended-twice", ended_twice},
      {"ended-with-setup", ended_with_setup},
      {"ended-while-running", ended_while_running},
      {"ended-while-waiting", ended_while_waiting},
      {"fails-after", fails_after},
  };
  for (unsigned each = 0; each < sizeof all / sizeof *all; each++) {
    if (count == 2 && strcmp(words[1], all[each].name) == 0) return all[each].function();
  }
  return 9;
}
