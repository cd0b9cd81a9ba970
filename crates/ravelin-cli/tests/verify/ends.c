// A thread ends the process while another one waits in a loop. The argument names a program.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static atomic_int a, b, c, d, lock, owner = -1;

static void *waits_for_two(void *argument) {
  while (atomic_load(&a) == 0 || atomic_load(&b) == 0) {}
  atomic_store(&d, 1);
  return argument;
}

static void *ends_or_lets_pass(void *argument) {
  atomic_store(&a, 1);
  if (atomic_load(&c) == 0) _exit(0);
  atomic_store(&b, 1);
  return argument;
}

static void *closes_and_opens(void *argument) {
  atomic_store(&c, 1);
  if (atomic_load(&a)) atomic_store(&a, 0), atomic_store(&a, 1);
  (void)atomic_load(&d);
  return argument;
}

static int tries(void) {
  int free = 0;
  return atomic_compare_exchange_strong(&lock, &free, 1);
}

static void unlocks(void) {
  atomic_store(&owner, -1);
  atomic_store(&lock, 0);
}

static void *locks(void *me) {
  if (atomic_load(&owner) == (long)me) return 0;
  do {
    while (atomic_load(&lock) != 0) {}
  } while (!tries());
  atomic_store(&owner, (long)me);
  unlocks();
  return 0;
}

static void *locks_or_ends(void *me) {
  if (atomic_load(&owner) != -1 || !tries()) _exit(0);
  atomic_store(&owner, (long)me);
  unlocks();
  return 0;
}

int main(int words, char **arguments) {
  void *(*of_two[])(void *) = {waits_for_two, ends_or_lets_pass, closes_and_opens};
  void *(*of_lock[])(void *) = {locks, locks, locks_or_ends};
  void *(**bodies)(void *) = words > 1 && strcmp(arguments[1], "lock") == 0 ? of_lock : of_two;
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, bodies[i], (void *)i);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
}
