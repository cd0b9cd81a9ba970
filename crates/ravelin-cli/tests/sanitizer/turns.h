// Threads that run in a fixed order which the sanitizer does not see: the order is real, but nothing in the program
// enforces it, so a run is reproducible and a finding is still a finding.
#ifndef TURNS_H
#define TURNS_H

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include "ravelin.h"

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define AR memory_order_acq_rel
#define SC memory_order_seq_cst

#define HIDDEN __attribute__((noinline, no_sanitize("thread"), unused))

static volatile int turn_now;

// Waits for a turn, and says that it is over. No access in here is instrumented.
static HIDDEN void turn_begins(int turn) {
  while (turn_now < turn) sched_yield();
}

static HIDDEN void turn_ends(void) {
  turn_now = turn_now + 1;
}

typedef void turn_function(void);

struct turn {
  int number;
  turn_function *function;
};

static HIDDEN void *turn_thread(void *argument) {
  struct turn *turn = (struct turn *)argument;
  turn_begins(turn->number);
  turn->function();
  turn_ends();
  return 0;
}

// Starts all threads, then lets one after the other run; joins them if they can end, or else detaches them.
static HIDDEN void in_turns(int count, turn_function *const *functions, int join) {
  static struct turn turns[16];
  static pthread_t threads[16];
  for (int i = 0; i < count; i++) {
    turns[i].number = i;
    turns[i].function = functions[i];
    pthread_create(&threads[i], 0, turn_thread, &turns[i]);
  }
  for (int i = 0; i < count; i++) join ? pthread_join(threads[i], 0) : pthread_detach(threads[i]);
}

#define IN_TURNS(...)                                                                                                  \
  in_turns(sizeof((turn_function *[]){__VA_ARGS__}) / sizeof(turn_function *), (turn_function *[]){__VA_ARGS__}, 1)

// The last function blocks for ever: the program ends while it waits.
#define IN_TURNS_LAST_BLOCKS(...)                                                                                      \
  do {                                                                                                                 \
    int count_ = sizeof((turn_function *[]){__VA_ARGS__}) / sizeof(turn_function *);                                   \
    in_turns(count_, (turn_function *[]){__VA_ARGS__}, 0);                                                             \
    turn_begins(count_ - 1);                                                                                           \
    usleep(100000);                                                                                                    \
    exit(0);                                                                                                           \
  } while (0)

// Runs one function in several threads at once, which start together, and joins them. Starting together is hidden.
static volatile int gate_open;
static void *(*gate_function)(void *);

static HIDDEN void *gate_thread(void *argument) {
  while (!gate_open) sched_yield();
  return gate_function(argument);
}

static HIDDEN void at_once(int count, void *(*function)(void *)) {
  pthread_t threads[64];
  gate_open = 0;
  gate_function = function;
  for (long i = 0; i < count; i++) pthread_create(&threads[i], 0, gate_thread, (void *)i);
  gate_open = 1;
  for (int i = 0; i < count; i++) pthread_join(threads[i], 0);
}

#endif
