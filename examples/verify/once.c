//! expect verify: verified
//! expect verify -DBROKEN: violated: data race
// What is needed first is made by whoever needs it first: with pthread_once, or by looking whether it is there.
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int made, value;

static void make(void) {
  value = 42;
  made++;
}

static void *need(void *unused) {
#ifdef BROKEN
  (void)once;
  if (!made) make();
#else
  pthread_once(&once, make);
#endif
  return value == 42 ? unused : &value;
}

int main(void) {
  pthread_t other;
  void *wrong;
  pthread_create(&other, NULL, need, NULL);
  void *mine = need(NULL);
  pthread_join(other, &wrong);
  return wrong != NULL || mine != NULL || made != 1;
}
