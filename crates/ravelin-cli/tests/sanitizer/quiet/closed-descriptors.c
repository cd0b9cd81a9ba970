// Descriptors that are closed when no thread uses them any more.
// arguments: the case's name
// case join: none
// case mutex: none
// case count: none
// case duplicate: none
// case replaced: none
// case reused: none
// case reused-unseen: none
// case handed-over: none
// case pipe: none
// case sockets: none
// case epoll: none
// case stream: none
// case shutdown: none
// case own: none
// case numbers: none
// case range: none
// case range-at-exec: none
// case range-of-others: none
// case range-unseen: none
// case replaced-own: none
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef void *work(void *);

static int file, ends[2], event;
static FILE *stream;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int users = 2;

static void both(work *one, work *other) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, one, 0);
  pthread_create(&threads[1], 0, other, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
}

static void uses(int which) {
  char byte = 'x';
  if (write(which, &byte, 1) != 1) puts("not written");
}

static void *writes(void *argument) {
  uses(file);
  return argument;
}

static void *writes_locked(void *argument) {
  pthread_mutex_lock(&mutex);
  if (file >= 0) uses(file);
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void *closes_locked(void *argument) {
  pthread_mutex_lock(&mutex);
  close(file);
  file = -1;
  pthread_mutex_unlock(&mutex);
  return argument;
}

// The last user closes it.
static void *leaves(void *argument) {
  uses(file);
  if (atomic_fetch_sub(&users, 1) == 1) close(file);
  return argument;
}

static void *closes_duplicate(void *argument) {
  int mine = dup(file);
  uses(mine);
  close(mine);
  return argument;
}

// A number that has another file from one moment to the next is never free.
static void *replaces(void *argument) {
  int other = open("/dev/zero", O_RDWR);
  dup2(other, file);
  close(other);
  return argument;
}

static void *closes_range_locked(void *argument) {
  pthread_mutex_lock(&mutex);
  close_range(file, file + 10, 0);
  file = -1;
  pthread_mutex_unlock(&mutex);
  return argument;
}

// They stay open.
static void *closes_range_at_exec(void *argument) {
  close_range(file, ~0u, CLOSE_RANGE_CLOEXEC);
  return argument;
}

static void *closes_others(void *argument) {
  closefrom(file + 1);
  close_range(file + 1, file + 100, 0);
  return argument;
}

// Numbers that are closed unseen, and opened again.
static void *own_ranges(void *argument) {
  for (int i = 0; i < 50; i++) {
    int mine = open("/dev/null", O_WRONLY);
    uses(mine);
    syscall(SYS_close_range, mine, mine, 0);
  }
  return argument;
}

static void *replaces_own(void *argument) {
  int one = open("/dev/null", O_WRONLY), two = open("/dev/zero", O_RDWR);
  dup2(two, one);
  dup2(one, one);
  uses(one);
  close(one);
  close(two);
  return argument;
}

static int open_locked(void) {
  pthread_mutex_lock(&mutex);
  int mine = open("/dev/null", O_WRONLY);
  pthread_mutex_unlock(&mutex);
  return mine;
}

// Each opens, uses and closes files of its own, which have the same numbers again and again. Only the kernel orders it.
static void *own_files(void *argument) {
  for (int i = 0; i < 200; i++) {
    int mine = open("/dev/null", O_WRONLY);
    uses(mine);
    close(mine);
  }
  return argument;
}

static void *own_streams(void *argument) {
  for (int i = 0; i < 50; i++) {
    FILE *mine = fopen("/dev/null", "w");
    fputs("text", mine);
    fclose(mine);
  }
  return argument;
}

static void *own_files_unseen(void *argument) {
  for (int i = 0; i < 200; i++) {
    int mine = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY);
    uses(mine);
    if (i % 2) close(mine);
    else syscall(SYS_close, mine);
  }
  return argument;
}

static void *gives(void *argument) {
  for (int i = 0; i < 20; i++) {
    int mine = open_locked();
    uses(mine);
    if (write(ends[1], &mine, sizeof mine) != sizeof mine) puts("not written");
  }
  return argument;
}

static void *takes(void *argument) {
  for (int i = 0; i < 20; i++) {
    int theirs;
    if (read(ends[0], &theirs, sizeof theirs) != sizeof theirs) puts("not read");
    uses(theirs);
    close(theirs);
  }
  return argument;
}

// The end of what is written tells that the other end is not used any more.
static void *writes_to_end(void *argument) {
  uses(ends[1]);
  close(ends[1]);
  return argument;
}

static void *reads_to_end(void *argument) {
  char byte;
  while (read(ends[0], &byte, 1) == 1) {}
  close(ends[0]);
  return argument;
}

// What was written says that this was the last time.
static void *writes_last(void *argument) {
  uses(ends[1]);
  return argument;
}

static void *closes_both(void *argument) {
  char byte;
  if (read(ends[0], &byte, 1) == 1) close(ends[1]);
  close(ends[0]);
  return argument;
}

static void *adds(void *argument) {
  struct epoll_event about = {.events = EPOLLIN, .data.fd = event};
  eventfd_write(event, 1);
  epoll_ctl(file, EPOLL_CTL_ADD, event, &about);
  return argument;
}

static void *waits(void *argument) {
  struct epoll_event about;
  if (epoll_wait(file, &about, 1, -1) == 1) {
    close(about.data.fd);
    close(file);
  }
  return argument;
}

static void *prints(void *argument) {
  pthread_mutex_lock(&mutex);
  if (stream) fputs("some text", stream);
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void *closes_stream(void *argument) {
  pthread_mutex_lock(&mutex);
  fclose(stream);
  stream = 0;
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void *receives(void *argument) {
  char byte;
  while (recv(ends[0], &byte, 1, 0) == 1) {}
  return argument;
}

static void *shuts(void *argument) {
  shutdown(ends[0], SHUT_RDWR);
  return argument;
}

int main(int count, char **arguments) {
  const char *name = count > 1 ? arguments[1] : "";
  file = open("/dev/null", O_WRONLY);
  if (!strcmp(name, "join")) {
    both(writes, writes);
    close(file);
  }
  if (!strcmp(name, "mutex")) both(writes_locked, closes_locked);
  if (!strcmp(name, "count")) both(leaves, leaves);
  if (!strcmp(name, "duplicate")) both(writes, closes_duplicate);
  if (!strcmp(name, "replaced")) both(writes, replaces);
  if (!strcmp(name, "range")) both(writes_locked, closes_range_locked);
  if (!strcmp(name, "range-at-exec")) both(writes, closes_range_at_exec);
  if (!strcmp(name, "range-of-others")) both(writes, closes_others);
  if (!strcmp(name, "range-unseen")) both(own_ranges, own_files);
  if (!strcmp(name, "replaced-own")) both(replaces_own, replaces_own);
  if (!strcmp(name, "reused")) both(own_files, own_files);
  if (!strcmp(name, "reused-unseen")) both(own_files_unseen, own_files);
  if (!strcmp(name, "numbers")) both(own_streams, own_files);
  if (!strcmp(name, "handed-over")) {
    if (pipe(ends)) return 1;
    both(gives, takes);
  }
  if (!strcmp(name, "pipe")) {
    if (pipe(ends)) return 1;
    both(writes_to_end, reads_to_end);
  }
  if (!strcmp(name, "sockets")) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    both(writes_last, closes_both);
  }
  if (!strcmp(name, "epoll")) {
    file = epoll_create1(0);
    event = eventfd(0, 0);
    both(adds, waits);
  }
  if (!strcmp(name, "stream")) {
    stream = fopen("/dev/null", "w");
    both(prints, closes_stream);
  }
  if (!strcmp(name, "shutdown")) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    both(receives, shuts);
    close(ends[0]);
  }
  if (!strcmp(name, "own")) {
    close(file);
    both(own_files, own_files);
    file = open("/dev/null", O_WRONLY);
    both(writes, writes);
  }
}
