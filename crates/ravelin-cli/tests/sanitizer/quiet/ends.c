// The ways a program ends while threads run: what was found before is not lost.
// case exit -DEND=exit(0): race w w
// case return -DEND=return(0): race w w
// case quick-exit -DEND=quick_exit(0): race w w
// case underscore-exit -DEND=_exit(0): race w w
// case abort -DEND=abort() -DSIGNAL: race w w
// case kill -DEND=(void)raise(SIGKILL) -DSIGNAL: race w w
// exit: any
#include <signal.h>
#include <stdatomic.h>
#include "../turns.h"

static int raced;
static atomic_int spinning;

static void one(void) {
  raced++; //@w
}

static void *for_ever(void *unused) {
  for (;;) atomic_fetch_add_explicit(&spinning, 1, RLX);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, for_ever, 0);
  IN_TURNS(one, one);
  END;
}
