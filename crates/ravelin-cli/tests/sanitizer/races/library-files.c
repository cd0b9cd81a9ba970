// Functions of the C library that move bytes between a file and memory that another thread changes.
// arguments: the case's name
// flags: -D_GNU_SOURCE
// case read: race w read/8
// case write: race w write/8
// case pread: race w pread/8
// case pwrite: race w pwrite/8
// case readv: race w readv/4
// case writev: race w writev/4
// case recv: race w recv/8
// case send: race w send/8
// case recvfrom: race w recvfrom/8
// case sendto: race w sendto/8
// case recvmsg: race w recvmsg/4
// case sendmsg: race w sendmsg/4
// case fread: race w fread/8
// case fwrite: race w fwrite/8
// case fgets: race w fgets/8
// case fputs: race w fputs
// case getline: race w getline
// case fprintf: race w fprintf
// case pipe: race w pipe/8
// case stat: race w stat
// case clock_gettime: race w clock_gettime/16
// case gettimeofday: race w gettimeofday/16
// case epoll_wait: race w epoll_wait/12
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include "../turns.h"
#define CASE(name, ...) if (!strcmp(wanted, name)) { __VA_ARGS__; return; }

static const char *wanted;
static char block[4096] = "1234567";
static int pair[2], file, polled;
static FILE *stream;
static char *line = block;
static size_t room = sizeof block;
static struct iovec halves[2] = {{block, 4}, {block + 4, 4}};
static struct msghdr message = {.msg_iov = halves, .msg_iovlen = 2};

static void writer(void) {
  block[5] = '6'; //@w
}

static void user(void) {
  struct epoll_event *event = (struct epoll_event *)block;
  CASE("read", read(pair[0], block, 8)) //@read
  CASE("write", write(pair[0], block, 8)) //@write
  CASE("pread", pread(file, block, 8, 0)) //@pread
  CASE("pwrite", pwrite(file, block, 8, 0)) //@pwrite
  CASE("readv", readv(pair[0], halves, 2)) //@readv
  CASE("writev", writev(pair[0], halves, 2)) //@writev
  CASE("recv", recv(pair[0], block, 8, 0)) //@recv
  CASE("send", send(pair[0], block, 8, 0)) //@send
  CASE("recvfrom", recvfrom(pair[0], block, 8, 0, 0, 0)) //@recvfrom
  CASE("sendto", sendto(pair[0], block, 8, 0, 0, 0)) //@sendto
  CASE("recvmsg", recvmsg(pair[0], &message, 0)) //@recvmsg
  CASE("sendmsg", sendmsg(pair[0], &message, 0)) //@sendmsg
  CASE("fread", if (fread(block, 4, 2, stream) != 2) abort()) //@fread
  CASE("fwrite", if (fwrite(block, 4, 2, stream) != 2) abort()) //@fwrite
  CASE("fgets", if (!fgets(block, 8, stream)) abort()) //@fgets
  CASE("fputs", if (fputs(block, stream) < 0) abort()) //@fputs
  CASE("getline", if (getline(&line, &room, stream) < 1) abort()) //@getline
  CASE("fprintf", if (fprintf(stream, "%s", block) < 0) abort()) //@fprintf
  CASE("pipe", if (pipe((int *)block)) abort()) //@pipe
  CASE("stat", if (stat("/", (struct stat *)block)) abort()) //@stat
  CASE("clock_gettime", if (clock_gettime(CLOCK_MONOTONIC, (struct timespec *)block)) abort()) //@clock_gettime
  CASE("gettimeofday", if (gettimeofday((struct timeval *)block, 0)) abort()) //@gettimeofday
  CASE("epoll_wait", if (epoll_wait(polled, event, 1, -1) != 1) abort()) //@epoll_wait
  abort();
}

int main(int count, char **arguments) {
  wanted = arguments[1];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || write(pair[1], "abcdefgh", 8) != 8) return 2;
  stream = tmpfile();
  if (!stream || fputs("abcdefgh\nand more\n", stream) < 0 || fflush(stream)) return 3;
  rewind(stream);
  file = fileno(stream);
  polled = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  if (epoll_ctl(polled, EPOLL_CTL_ADD, pair[0], &event)) return 4;
  IN_TURNS(writer, user);
}
