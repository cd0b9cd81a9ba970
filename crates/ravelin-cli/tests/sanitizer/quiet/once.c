// pthread_once: whoever comes second sees what the first one did.
// case c: none
#include "../turns.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int value;

static void initialise(void) { value = 7; }

static void *worker(void *unused) {
  pthread_once(&once, initialise);
  if (value != 7) abort();
  return unused;
}

int main(void) { at_once(5, worker); }
