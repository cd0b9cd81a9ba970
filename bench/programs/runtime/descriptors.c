// Four threads write and read a few bytes, each at a descriptor of its own and at one that all share. Argument: how often
// each does so.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, BYTES = 16 };

static long rounds;
static int shared;

static void *worker(void *argument) {
  char buffer[BYTES] = {0};
  int own = open("/dev/zero", O_RDWR);
  long done = 0;
  for (long i = 0; i < rounds; i++) {
    done += read(own, buffer, BYTES);
    done += write(own, buffer, BYTES);
    done += write(shared, buffer, BYTES);
  }
  close(own);
  return done == 3 * BYTES * rounds ? argument : &shared;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  rounds = atol(arguments[1]);
  shared = open("/dev/null", O_WRONLY);
  pthread_t threads[THREADS];
  int failed = 0;
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, 0);
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    failed |= result != 0;
  }
  close(shared);
  return failed;
}
