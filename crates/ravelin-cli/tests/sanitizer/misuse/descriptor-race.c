// A file descriptor is closed while another thread uses it, or closes it too.
// arguments: the case's name
// case write: descriptor-race use close
// case read: descriptor-race read close
// case pread: descriptor-race pread close
// case send: descriptor-race send close
// case poll: descriptor-race poll close
// case epoll: descriptor-race epoll close
// case duplicate: descriptor-race duplicate close
// case after: descriptor-race use close
// case twice: descriptor-race close again
// case relaxed: descriptor-race use close
// case reused: descriptor-race use close
// case stream: descriptor-race print close-stream
// case range: descriptor-race use close-range
// case from: descriptor-race use close-from
// case after-range: descriptor-race use close-range
// case twice-in-range: descriptor-race close close-range
// case replaced: descriptor-race replace close
// case replaced-flags: descriptor-race replace-flags close
#define _GNU_SOURCE
#include "../turns.h"
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static int file, keeper;
static FILE *stream;
static char buffer[8];
static atomic_int done, closed, is_closed;

static void writes(void) {
  done = write(file, "x", 1) == 1; //@use
}

static void reads(void) {
  done = read(file, buffer, 1) == 1; //@read
}

static void reads_at(void) {
  done = pread(file, buffer, 1, 0) == 1; //@pread
}

static void sends(void) {
  done = send(file, "x", 1, MSG_NOSIGNAL) == 1; //@send
}

static void polls(void) {
  struct pollfd one = {file, POLLOUT, 0};
  done = poll(&one, 1, 0); //@poll
}

static void waits(void) {
  struct epoll_event event;
  done = epoll_wait(file, &event, 1, 0); //@epoll
}

static void duplicates(void) {
  done = close(dup(file)); //@duplicate
}

static void closes(void) {
  closed = close(file); //@close
}

static void closes_again(void) {
  closed = close(file); //@again
}

static void closes_relaxed(void) {
  closes();
  atomic_store_explicit(&is_closed, 1, RLX);
}

static void writes_relaxed(void) {
  if (atomic_load_explicit(&is_closed, RLX)) writes();
}

// The file that gets the number next is not the one that is meant.
static void reopens(void) {
  keeper = open("/dev/null", O_WRONLY);
}

static void closes_range(void) {
  closed = close_range(file, file, 0); //@close-range
}

static void closes_from(void) {
  closefrom(file); //@close-from
}

// The number may be free, or belong to another file, when it is replaced.
static void replaces(void) {
  done = dup2(keeper, file); //@replace
}

static void replaces_with_flags(void) {
  done = dup3(keeper, file, O_CLOEXEC); //@replace-flags
}

static void prints(void) {
  fputs("some text", stream); //@print
}

static void closes_stream(void) {
  fclose(stream); //@close-stream
}

int main(int count, char **arguments) {
  const char *name = count > 1 ? arguments[1] : "";
  int ends[2];
  file = open(strcmp(name, "read") && strcmp(name, "pread") ? "/dev/null" : "/dev/zero", O_RDWR);
  if (!strcmp(name, "write")) IN_TURNS(writes, closes);
  if (!strcmp(name, "read")) IN_TURNS(reads, closes);
  if (!strcmp(name, "pread")) IN_TURNS(reads_at, closes);
  if (!strcmp(name, "send")) {
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    file = ends[0];
    IN_TURNS(sends, closes);
  }
  if (!strcmp(name, "poll")) IN_TURNS(polls, closes);
  if (!strcmp(name, "epoll")) {
    file = epoll_create1(0);
    IN_TURNS(waits, closes);
  }
  if (!strcmp(name, "duplicate")) IN_TURNS(duplicates, closes);
  if (!strcmp(name, "after")) IN_TURNS(closes, writes);
  if (!strcmp(name, "twice")) IN_TURNS(closes, closes_again);
  if (!strcmp(name, "relaxed")) IN_TURNS(closes_relaxed, writes_relaxed);
  if (!strcmp(name, "reused")) IN_TURNS(closes, reopens, writes);
  if (!strcmp(name, "range")) IN_TURNS(writes, closes_range);
  if (!strcmp(name, "from")) IN_TURNS(writes, closes_from);
  if (!strcmp(name, "after-range")) IN_TURNS(closes_range, writes);
  if (!strcmp(name, "twice-in-range")) IN_TURNS(closes_range, closes);
  keeper = open("/dev/zero", O_RDWR);
  if (!strcmp(name, "replaced")) IN_TURNS(replaces, closes);
  if (!strcmp(name, "replaced-flags")) IN_TURNS(replaces_with_flags, closes);
  if (!strcmp(name, "stream")) {
    stream = fopen("/dev/null", "w");
    IN_TURNS(prints, closes_stream);
  }
}
