// Every wait with a time, made while there is one thread, then with a second one. The argument names one of them.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what) ((what) ? 0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what), exit(9)))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, monotonic;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static mtx_t c11;
static cnd_t c11_condition;
static int pipes[2];

static struct timespec in(clockid_t clock, long seconds) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += seconds;
  return time;
}

static const char *chosen;

static int is(const char *name) { return strcmp(chosen, name) == 0; }

static void wait(void) {
  struct timespec real = in(CLOCK_REALTIME, 60), steady = in(CLOCK_MONOTONIC, 60), minute = {60, 0};
  if (is("cond_timedwait")) {
    pthread_mutex_lock(&mutex);
    CHECK(pthread_cond_timedwait(&condition, &mutex, &real) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
  } else if (is("cond_timedwait_monotonic")) {
    pthread_mutex_lock(&mutex);
    CHECK(pthread_cond_timedwait(&monotonic, &mutex, &steady) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
  } else if (is("cond_clockwait")) {
    pthread_mutex_lock(&mutex);
    CHECK(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &steady) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
  } else if (is("cnd_timedwait")) {
    mtx_lock(&c11);
    CHECK(cnd_timedwait(&c11_condition, &c11, &real) == thrd_timedout);
    mtx_unlock(&c11);
  } else if (is("sem_timedwait")) {
    CHECK(sem_timedwait(&semaphore, &real) == -1 && errno == ETIMEDOUT);
  } else if (is("sem_clockwait")) {
    CHECK(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &steady) == -1 && errno == ETIMEDOUT);
  } else if (is("mutex_timedlock")) {
    pthread_mutex_lock(&mutex);
    CHECK(pthread_mutex_timedlock(&mutex, &real) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
  } else if (is("mutex_clocklock")) {
    pthread_mutex_lock(&mutex);
    CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &steady) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
  } else if (is("rwlock_timedwrlock")) {
    pthread_rwlock_rdlock(&rwlock);
    CHECK(pthread_rwlock_timedwrlock(&rwlock, &real) == ETIMEDOUT);
    pthread_rwlock_unlock(&rwlock);
  } else if (is("rwlock_clockwrlock")) {
    pthread_rwlock_rdlock(&rwlock);
    CHECK(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &steady) == ETIMEDOUT);
    pthread_rwlock_unlock(&rwlock);
  } else if (is("sleep")) {
    CHECK(sleep(60) == 0);
  } else if (is("usleep")) {
    CHECK(usleep(60000000) == 0);
  } else if (is("nanosleep")) {
    CHECK(nanosleep(&minute, 0) == 0);
  } else if (is("clock_nanosleep")) {
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &minute, 0) == 0);
  } else if (is("clock_nanosleep_until")) {
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &steady, 0) == 0);
  } else if (is("thrd_sleep")) {
    CHECK(thrd_sleep(&minute, 0) == 0);
  } else if (is("poll")) {
    struct pollfd one = {pipes[0], POLLIN, 0};
    CHECK(poll(&one, 1, 60000) == 0);
  } else if (is("ppoll")) {
    struct pollfd one = {pipes[0], POLLIN, 0};
    CHECK(ppoll(&one, 1, &minute, 0) == 0);
  } else if (is("select")) {
    struct timeval limit = {60, 0};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    CHECK(select(pipes[0] + 1, &set, 0, 0, &limit) == 0);
  } else if (is("pselect")) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    CHECK(pselect(pipes[0] + 1, &set, 0, 0, &minute, 0) == 0);
  } else if (is("epoll_wait")) {
    int epoll = epoll_create1(0);
    struct epoll_event event = {EPOLLIN}, got;
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0], &event) == 0);
    CHECK(epoll_wait(epoll, &got, 1, 60000) == 0);
    close(epoll);
  } else if (is("epoll_pwait2")) {
    int epoll = epoll_create1(0);
    struct epoll_event event = {EPOLLIN}, got;
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0], &event) == 0);
    CHECK(epoll_pwait2(epoll, &got, 1, &minute, 0) == 0);
    close(epoll);
  } else {
    fprintf(stderr, "no wait is called %s\n", chosen);
    exit(8);
  }
  struct timespec after = in(CLOCK_MONOTONIC, 0);
  CHECK(after.tv_sec >= steady.tv_sec);
}

static void *nothing(void *argument) { return argument; }

int main(int count, char **words) {
  chosen = count > 1 ? words[1] : "sleep";
  pthread_condattr_t by_monotonic;
  pthread_condattr_init(&by_monotonic);
  pthread_condattr_setclock(&by_monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&monotonic, &by_monotonic);
  sem_init(&semaphore, 0, 0);
  mtx_init(&c11, mtx_timed);
  cnd_init(&c11_condition);
  CHECK(pipe(pipes) == 0);
  wait();
  pthread_t thread;
  pthread_create(&thread, 0, nothing, 0);
  wait();
  pthread_join(thread, 0);
  wait();
}
