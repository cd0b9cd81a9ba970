// One place forgets the lock.
// case c: race w r
#include "../turns.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static void deposit(void) {
  pthread_mutex_lock(&mutex);
  balance += 10; //@w
  pthread_mutex_unlock(&mutex);
}

static void show(void) {
  if (balance < 0) abort(); //@r
}

int main(void) { IN_TURNS(deposit, show); }
