// A semaphore with a name, opened by each thread for itself.
// case c: none
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include "../turns.h"

static char full[64], empty[64];
static int slot;

static void *worker(void *number) {
  sem_t *filled = sem_open(full, 0), *emptied = sem_open(empty, 0);
  if (filled == SEM_FAILED || emptied == SEM_FAILED) abort();
  for (int i = 0; i < 300; i++) {
    while (sem_wait(number ? emptied : filled)) {}
    if (number) slot = i;
    else if (slot != i) abort();
    sem_post(number ? filled : emptied);
  }
  sem_close(filled);
  sem_close(emptied);
  return 0;
}

int main(void) {
  snprintf(full, sizeof full, "/ravelin-full-%d", getpid());
  snprintf(empty, sizeof empty, "/ravelin-empty-%d", getpid());
  sem_t *filled = sem_open(full, O_CREAT | O_EXCL, 0600, 0), *emptied = sem_open(empty, O_CREAT | O_EXCL, 0600, 1);
  if (filled == SEM_FAILED || emptied == SEM_FAILED) return 1;
  at_once(2, worker);
  sem_close(filled);
  sem_close(emptied);
  sem_unlink(full);
  sem_unlink(empty);
}
