// All ways in which the C library lets a thread wait, with times that would take minutes if anybody slept.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what) ((what) ? 0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what), exit(9)))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spinlock;
static sem_t semaphore, never;
static int ready, written, initialised, order[64], steps;
static int pipes[2], sockets[2];
static mtx_t c11;
static cnd_t c11_condition;
static int c11_ready;

static void note(int what) {
  pthread_mutex_lock(&mutex);
  if (steps < 64) order[steps++] = what;
  pthread_mutex_unlock(&mutex);
}

static struct timespec in(clockid_t clock, long seconds) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += seconds;
  return time;
}

static void initialise(void) {
  sched_yield();
  usleep(100);
  initialised++;
}

static void *consumer(void *number) {
  pthread_mutex_lock(&mutex);
  while (!ready) pthread_cond_wait(&condition, &mutex);
  ready--;
  pthread_mutex_unlock(&mutex);
  note((int)(long)number);
  pthread_once(&once, initialise);
  CHECK(initialised == 1);
  pthread_barrier_wait(&barrier);
  pthread_rwlock_rdlock(&rwlock);
  CHECK(written == 0 || written == 7);
  pthread_rwlock_unlock(&rwlock);
  pthread_spin_lock(&spinlock);
  sched_yield();
  pthread_spin_unlock(&spinlock);
  sem_post(&semaphore);
  char byte;
  CHECK(read(pipes[0], &byte, 1) == 1 && byte == 'p');
  CHECK(send(sockets[1], "s", 1, 0) == 1);
  mtx_lock(&c11);
  while (!c11_ready) cnd_wait(&c11_condition, &c11);
  mtx_unlock(&c11);
  note(10 + (int)(long)number);
  return number;
}

static void *cancelled(void *unused) {
  sem_wait(&never);
  return unused;
}

int main(void) {
  pthread_barrier_init(&barrier, 0, 4);
  pthread_spin_init(&spinlock, 0);
  sem_init(&semaphore, 0, 0);
  sem_init(&never, 0, 0);
  mtx_init(&c11, mtx_timed);
  cnd_init(&c11_condition);
  CHECK(pipe(pipes) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  time_t began = time(0);
  pthread_t threads[3], other;
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, consumer, (void *)i);

  sleep(60);
  usleep(500000);
  struct timespec minute = {60, 0};
  CHECK(nanosleep(&minute, 0) == 0);
  CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &minute, 0) == 0);
  struct timespec until = in(CLOCK_MONOTONIC, 60);
  CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0) == 0);
  CHECK(thrd_sleep(&minute, 0) == 0);
  CHECK(time(0) - began >= 300);

  until = in(CLOCK_REALTIME, 60);
  CHECK(sem_timedwait(&never, &until) == -1 && errno == ETIMEDOUT);
  pthread_mutex_lock(&mutex);
  until = in(CLOCK_REALTIME, 60);
  CHECK(pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
  ready = 3;
  pthread_cond_signal(&condition);
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
  pthread_barrier_wait(&barrier);
  pthread_rwlock_wrlock(&rwlock);
  written = 7;
  pthread_rwlock_unlock(&rwlock);
  for (int i = 0; i < 3; i++) sem_wait(&semaphore);

  struct pollfd poll_one = {sockets[0], POLLIN, 0};
  CHECK(poll(&poll_one, 1, 60000) == 0);
  CHECK(write(pipes[1], "ppp", 3) == 3);
  CHECK(poll(&poll_one, 1, -1) == 1);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(sockets[0], &set);
  CHECK(select(sockets[0] + 1, &set, 0, 0, 0) == 1);
  char bytes[3];
  for (int got = 0; got < 3;) {
    ssize_t more = recv(sockets[0], bytes + got, 3 - got, 0);
    CHECK(more > 0);
    got += more;
  }
  mtx_lock(&c11);
  until = in(CLOCK_REALTIME, 60);
  CHECK(cnd_timedwait(&c11_condition, &c11, &until) == thrd_timedout);
  c11_ready = 1;
  cnd_broadcast(&c11_condition);
  mtx_unlock(&c11);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);

  void *result;
  pthread_create(&other, 0, cancelled, 0);
  sched_yield();
  pthread_cancel(other);
  pthread_join(other, &result);
  CHECK(result == PTHREAD_CANCELED);

  pid_t child = fork();
  if (child == 0) _exit(3);
  int status;
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
  for (int i = 0; i < steps; i++) printf("%d ", order[i]);
  puts("");
}
