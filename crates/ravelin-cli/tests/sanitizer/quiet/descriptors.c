// Pipes, sockets, FIFOs and event counters hand data over; so does closing them. A thread may be cancelled in a read.
// case pipe -DKIND=0: none
// case socketpair -DKIND=1: none
// case eventfd -DKIND=2: none
// case eventfd-functions -DKIND=3: none
// case fifo -DKIND=4: none
// case messages -DKIND=5: none
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include "../turns.h"

enum { TO_READ, TO_WRITE };
static int there[2], back[2], never[2];
static int slot, last, cleaned;

static void put(int *ends) {
  uint64_t one = 1;
#if KIND == 1
  if (send(ends[TO_WRITE], &one, sizeof one, 0) != sizeof one) abort();
#elif KIND == 3
  if (eventfd_write(ends[TO_WRITE], one)) abort();
#elif KIND == 5
  struct iovec range = {&one, sizeof one};
  struct msghdr message = {.msg_iov = &range, .msg_iovlen = 1};
  if (sendmsg(ends[TO_WRITE], &message, 0) != sizeof one) abort();
#else
  if (write(ends[TO_WRITE], &one, sizeof one) != sizeof one) abort();
#endif
}

static void get(int *ends) {
  uint64_t one;
#if KIND == 1
  if (recv(ends[TO_READ], &one, sizeof one, 0) != sizeof one) abort();
#elif KIND == 3
  if (eventfd_read(ends[TO_READ], &one)) abort();
#elif KIND == 5
  struct iovec range = {&one, sizeof one};
  if (readv(ends[TO_READ], &range, 1) != sizeof one) abort();
#else
  if (read(ends[TO_READ], &one, sizeof one) != sizeof one) abort();
#endif
}

static void *worker(void *number) {
  for (int i = 0; i < 100; i++) {
    if (number) {
      slot = i;
      put(there);
      get(back);
    } else {
      get(there);
      if (slot != i) abort();
      put(back);
    }
  }
  if (KIND == 2 || KIND == 3) return 0;
  if (number) {
    last = 1;
    close(there[TO_WRITE]);
  } else {
    char byte;
    if (read(there[TO_READ], &byte, 1) != 0 || !last) abort();
  }
  return 0;
}

static void cleanup(void *unused) {
  (void)unused;
  cleaned++;
}

static void *waits_for_ever(void *unused) {
  char byte;
  pthread_cleanup_push(cleanup, 0);
  if (read(never[TO_READ], &byte, 1) > 0) abort();
  pthread_cleanup_pop(0);
  return unused;
}

static void make(int *ends) {
#if KIND == 1 || KIND == 5
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
#elif KIND == 2 || KIND == 3
  ends[0] = eventfd(0, 0);
  ends[1] = dup(ends[0]);
  if (ends[1] < 0) abort();
#elif KIND == 4
  char folder[] = "/tmp/ravelin-fifo-XXXXXX", path[64];
  if (!mkdtemp(folder)) abort();
  snprintf(path, sizeof path, "%s/fifo", folder);
  if (mkfifo(path, 0600)) abort();
  ends[TO_READ] = open(path, O_RDONLY | O_NONBLOCK);
  ends[TO_WRITE] = open(path, O_WRONLY);
  if (ends[TO_WRITE] < 0 || fcntl(ends[TO_READ], F_SETFL, 0)) abort();
  unlink(path);
  rmdir(folder);
#else
  if (pipe(ends)) abort();
#endif
}

int main(void) {
  make(there);
  make(back);
  if (pipe(never)) abort();
  pthread_t thread;
  pthread_create(&thread, 0, waits_for_ever, 0);
  at_once(2, worker);
  pthread_cancel(thread);
  void *result;
  pthread_join(thread, &result);
  return result != PTHREAD_CANCELED || cleaned != 1;
}
