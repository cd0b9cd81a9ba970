// What one thread hands to another through the kernel is ordered: the other finds the data there.
// arguments: the case's name
// flags: -D_GNU_SOURCE
// libraries: -lrt
// case epoll-pointer: none
// case epoll-eventfd: none
// case epoll-socket: none
// case poll-pipe: none
// case select-pipe: none
// case tcp: none
// case udp: none
// case timerfd: none
// case stream: none
// case stream-characters: none
// case message-queue: none
// case futex: none
// case buffer-after-write: none
// case buffer-before-read: none
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include "../turns.h"
#define IS(name) (!strcmp(wanted, name))

static const char *wanted;
static int ends[2], polled, data;
static FILE *streams[2];
static mqd_t queue;
static int word;
static char buffer[64];

static void *gives(void *unused) {
  uint64_t one = 1;
  usleep(1000);
  data = 1;
  if (IS("epoll-pointer")) {
    struct epoll_event event = {.events = EPOLLOUT, .data.ptr = &data};
    if (epoll_ctl(polled, EPOLL_CTL_ADD, ends[1], &event)) abort();
  } else if (IS("timerfd")) {
    struct itimerspec soon = {.it_value = {0, 1000}};
    if (timerfd_settime(ends[1], 0, &soon, 0)) abort();
  } else if (IS("stream")) {
    if (fprintf(streams[1], "%d\n", 1) != 2 || fflush(streams[1])) abort();
  } else if (IS("stream-characters")) {
    setvbuf(streams[1], 0, _IONBF, 0);
    if (fputc('x', streams[1]) != 'x') abort();
  } else if (IS("message-queue")) {
    if (mq_send(queue, "x", 1, 0)) abort();
  } else if (IS("futex")) {
    while (syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0) != 1) usleep(1000);
  } else if (IS("buffer-after-write")) {
    strcpy(buffer, "x");
    if (write(ends[1], buffer, 2) != 2) abort();
  } else if (IS("buffer-before-read")) {
    strcpy(buffer, "before");
    if (write(ends[1], &one, 1) != 1) abort();
  } else if (IS("udp") || IS("tcp")) {
    if (send(ends[1], "x", 1, 0) != 1) abort();
  } else if (write(ends[1], &one, sizeof one) != sizeof one) abort();
  return 0;
}

static void *takes(void *unused) {
  uint64_t number;
  char text[64];
  if (!strncmp(wanted, "epoll", 5)) {
    struct epoll_event event;
    if (epoll_wait(polled, &event, 1, -1) != 1) abort();
  } else if (IS("poll-pipe")) {
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    if (poll(&one, 1, -1) != 1) abort();
  } else if (IS("select-pipe")) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    if (select(ends[0] + 1, &set, 0, 0, 0) != 1) abort();
  } else if (IS("stream")) {
    if (!fgets(text, sizeof text, streams[0])) abort();
  } else if (IS("stream-characters")) {
    if (fgetc(streams[0]) != 'x') abort();
  } else if (IS("message-queue")) {
    if (mq_receive(queue, text, sizeof text, 0) != 1) abort();
  } else if (IS("futex")) {
    if (syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0, 0, 0)) abort();
  } else if (IS("buffer-after-write")) {
    if (read(ends[0], text, 2) != 2) abort();
    strcpy(buffer, "reused");
  } else if (IS("buffer-before-read")) {
    if (read(ends[0], buffer, 1) != 1) abort();
  } else if (IS("udp") || IS("tcp")) {
    if (recv(ends[0], text, sizeof text, 0) != 1) abort();
  } else if (read(ends[0], &number, sizeof number) != sizeof number) abort();
  if (data != 1) abort();
  return 0;
}

static void connects(int kind) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listening = socket(AF_INET, kind, 0);
  ends[1] = socket(AF_INET, kind, 0);
  if (bind(listening, (struct sockaddr *)&address, length)) abort();
  if (getsockname(listening, (struct sockaddr *)&address, &length)) abort();
  if (kind == SOCK_STREAM && listen(listening, 1)) abort();
  if (connect(ends[1], (struct sockaddr *)&address, length)) abort();
  ends[0] = kind == SOCK_STREAM ? accept(listening, 0, 0) : listening;
}

int main(int count, char **arguments) {
  wanted = arguments[1];
  polled = epoll_create1(0);
  if (IS("epoll-eventfd")) ends[0] = ends[1] = eventfd(0, 0);
  else if (IS("timerfd")) ends[0] = ends[1] = timerfd_create(CLOCK_MONOTONIC, 0);
  else if (IS("epoll-socket") || IS("epoll-pointer")) socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  else if (IS("tcp")) connects(SOCK_STREAM);
  else if (IS("udp")) connects(SOCK_DGRAM);
  else if (pipe(ends)) return 2;
  if (IS("epoll-eventfd") || IS("epoll-socket")) {
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(polled, EPOLL_CTL_ADD, ends[0], &event)) return 3;
  }
  if (!strncmp(wanted, "stream", 6)) streams[0] = fdopen(ends[0], "r"), streams[1] = fdopen(ends[1], "w");
  if (IS("message-queue")) {
    struct mq_attr most = {.mq_maxmsg = 1, .mq_msgsize = sizeof buffer};
    char name[64];
    snprintf(name, sizeof name, "/ravelin-%d", (int)getpid());
    queue = mq_open(name, O_RDWR | O_CREAT, 0600, &most);
    if (queue == -1 && (errno == ENOSYS || errno == EACCES || errno == ENOSPC)) return 0;
    if (queue == -1) return 4;
    mq_unlink(name);
  }
  pthread_t giver, taker;
  pthread_create(&taker, 0, takes, 0);
  pthread_create(&giver, 0, gives, 0);
  pthread_join(taker, 0);
  pthread_join(giver, 0);
}
