// What a run that was forked before the second thread could get wrong. The first argument says what is done before the
// second thread, the second argument what is done with it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_int data, flag, turns, seen;
static int opened = -1;
static const char *later = "";

static int is(const char *word, const char *name) { return strcmp(word, name) == 0; }

static int child(void) {
  pid_t process = fork();
  if (process == 0) _exit(0);
  return process;
}

__attribute__((no_sanitize_thread)) static int unknown(void *argument) {
  (void)argument;
  for (;;) syscall(SYS_pause);
}

static void before(const char *what) {
  int ends[2];
  char letter;
  if (is(what, "time")) {
    struct timespec now, wait = {5, 0};
    nanosleep(&wait, 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
    atomic_store(&turns, (int)now.tv_nsec);
  } else if (is(what, "memory")) {
    // Remembered by each run as it was.
    char *block = malloc(100000);
    memset(block, 7, 100000);
    atomic_store(&turns, block[99999]);
  } else if (is(what, "print")) {
    printf("kept in a buffer\n");
    if (write(1, "written at once\n", 16) != 16) exit(9);
  } else if (is(what, "input")) {
    if (read(0, &letter, 1) != 1 || letter != 'a') exit(9);
  } else if (is(what, "read-file")) {
    opened = open("served.c", O_RDONLY);
    if (lseek(opened, 3, SEEK_SET) != 3) exit(9);
  } else if (is(what, "random")) {
    if (getrandom(&letter, 1, 0) != 1) exit(9);
    atomic_store(&turns, letter);
  } else if (is(what, "process")) {
    waitpid(child(), 0, 0);
  } else if (is(what, "process-left")) {
    child();
  } else if (is(what, "command")) {
    if (system("true") != 0) exit(9);
  } else if (is(what, "number")) {
    atomic_store(&turns, getpid() > 0);
  } else if (is(what, "pipe")) {
    if (pipe(ends) != 0) exit(9);
  } else if (is(what, "socket")) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) exit(9);
  } else if (is(what, "events")) {
    eventfd(0, 0);
  } else if (is(what, "timer-file")) {
    timerfd_create(CLOCK_MONOTONIC, 0);
  } else if (is(what, "alarm")) {
    alarm(1000);
  } else if (is(what, "timer")) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) exit(9);
  } else if (is(what, "signal")) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, 0);
    raise(SIGUSR1);
  } else if (is(what, "write-file")) {
    opened = open("written", O_RDWR | O_CREAT | O_TRUNC, 0600);
  } else if (is(what, "memory-file")) {
    opened = memfd_create("memory", 0);
  } else if (is(what, "stream")) {
    fclose(fopen("written", "w"));
  } else if (is(what, "folder")) {
    mkdir("folder", 0700);
    rmdir("folder");
  } else if (is(what, "shared")) {
    mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  } else if (is(what, "session")) {
    setsid();
  } else if (is(what, "thread")) {
    static char stack[1 << 14];
    clone(unknown, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, 0);
  }
}

// What a thread does in some schedules.
static void during(void) {
  char letters[8];
  if (is(later, "crash")) {
    *(volatile int *)8 = 1;
  } else if (is(later, "abort")) {
    abort();
  } else if (is(later, "kill")) {
    raise(SIGKILL);
  } else if (is(later, "exit")) {
    exit(7);
  } else if (is(later, "_exit")) {
    _exit(8);
  } else if (is(later, "exec")) {
    execl("/bin/sh", "sh", "-c", "exit 6", (char *)0);
  } else if (is(later, "fork")) {
    // Waiting for it would depend on when it ends.
    child();
  } else if (is(later, "daemon")) {
    if (fork() == 0) {
      setsid();
      struct timespec wait = {0, 300000000};
      syscall(SYS_nanosleep, &wait, 0);
      _exit(0);
    }
  } else if (is(later, "input")) {
    // Each run has the rest of the input.
    if (read(0, letters, 8) != 3 || memcmp(letters, "bc\n", 3) != 0) _exit(9);
  } else if (is(later, "read-file")) {
    if (read(opened, letters, 4) != 4 || memcmp(letters, "What", 4) != 0) _exit(9);
  } else if (is(later, "number")) {
    // Children of one process, or of several.
    FILE *file = fopen("parents", "a");
    fprintf(file, "%d\n", (int)getppid());
    fclose(file);
  }
}

// The first run leaves a file, and the next one stands still.
static void stand_still(void) {
  if (access("ran", F_OK) != 0) return;
  if (is(later, "hang") || is(later, "spin")) close(open("stands", O_WRONLY | O_CREAT, 0600));
  if (is(later, "hang")) for (;;) syscall(SYS_pause);
  if (is(later, "spin")) for (;;) atomic_fetch_add(&turns, 1);
}

static void *writer(void *argument) {
  atomic_store_explicit(&data, 1, memory_order_relaxed);
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  return argument;
}

static void *reader(void *argument) {
  stand_still();
  if (atomic_load_explicit(&flag, memory_order_relaxed)) {
    atomic_load_explicit(&data, memory_order_relaxed);
    during();
    atomic_store(&seen, 1);
  }
  return argument;
}

int main(int words, char **arguments) {
  pthread_t threads[2];
  before(words > 1 ? arguments[1] : "");
  later = words > 2 ? arguments[2] : "";
  pthread_create(&threads[0], 0, writer, 0);
  pthread_create(&threads[1], 0, reader, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  if (is(later, "hang") || is(later, "spin")) close(open("ran", O_WRONLY | O_CREAT, 0600));
  printf("seen %d\n", seen);
  return seen ? 3 : is(words > 1 ? arguments[1] : "", "random") ? turns & 0x7f : 0;
}
