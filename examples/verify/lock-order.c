//! expect verify: verified
//! expect verify -DBROKEN: violated: deadlock
// Two locks for a transfer between accounts. The broken one locks them in the order of the transfer.
#include <pthread.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int accounts[2] = {10, 10};

static void transfer(int from, int to) {
#ifdef BROKEN
  int first = from, second = to;
#else
  int first = from < to ? from : to, second = from < to ? to : from;
#endif
  pthread_mutex_lock(&locks[first]);
  pthread_mutex_lock(&locks[second]);
  accounts[from]--;
  accounts[to]++;
  pthread_mutex_unlock(&locks[second]);
  pthread_mutex_unlock(&locks[first]);
}

static void *back(void *unused) {
  transfer(1, 0);
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, back, NULL);
  transfer(0, 1);
  pthread_join(other, NULL);
  return accounts[0] != 10 || accounts[1] != 10;
}
