// Runs that make no progress, in ways that no schedule sees. The argument names one of them.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;
static int pipes[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void never_written(void) {
  char byte;
  syscall(SYS_read, pipes[0], &byte, 1);
}

__attribute__((noinline)) static void loop(void) {
  while (!stop) {
  }
}

static void *in_a_call(void *argument) {
  never_written();
  return argument;
}

static void *in_a_loop(void *argument) {
  loop();
  return argument;
}

static void *locked(void *argument) {
  pthread_mutex_lock(&mutex);
  return argument;
}

static void started(void *(*function)(void *)) {
  pthread_t thread;
  pthread_create(&thread, 0, function, 0);
  pthread_join(thread, 0);
}

int main(int count, char **words) {
  const char *chosen = count > 1 ? words[1] : "";
  if (pipe(pipes) != 0) return 8;
  if (strcmp(chosen, "call") == 0) {
    never_written();
  } else if (strcmp(chosen, "call-in-thread") == 0) {
    started(in_a_call);
  } else if (strcmp(chosen, "signal") == 0) {
    pause();
  } else if (strcmp(chosen, "descriptor") == 0) {
    char byte;
    read(pipes[0], &byte, 1);
  } else if (strcmp(chosen, "loop") == 0) {
    loop();
  } else if (strcmp(chosen, "loop-in-thread") == 0) {
    started(in_a_loop);
  } else if (strcmp(chosen, "lock") == 0) {
    pthread_mutex_lock(&mutex);
    started(locked);
  } else if (strcmp(chosen, "child") == 0) {
    pid_t child = fork();
    if (child == 0) {
      sleep(6);
      _exit(3);
    }
    int status;
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3) return 9;
  } else {
    return 7;
  }
}
