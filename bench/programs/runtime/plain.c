// Mostly plain accesses: each of four threads multiplies matrices, sorts and counts in a hash table of its own, and
// adds up in a shared table under a mutex now and then. Argument: how often.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, N = 96, KEYS = 1 << 14 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long shared[64];
static long rounds;

struct local {
  double a[N][N], b[N][N], c[N][N];
  unsigned keys[KEYS];
  struct entry {
    unsigned key, count;
  } table[2 * KEYS];
};

static void multiply(struct local *l) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++) sum += l->a[i][k] * l->b[k][j];
      l->c[i][j] = sum;
    }
}

static void sift(unsigned *keys, unsigned root, unsigned end) {
  for (unsigned child; (child = 2 * root + 1) < end; root = child) {
    if (child + 1 < end && keys[child] < keys[child + 1]) child++;
    if (keys[root] >= keys[child]) return;
    unsigned other = keys[root];
    keys[root] = keys[child];
    keys[child] = other;
  }
}

static void sort(unsigned *keys, unsigned count) {
  for (unsigned i = count / 2; i-- > 0;) sift(keys, i, count);
  for (unsigned end = count; --end > 0;) {
    unsigned most = keys[0];
    keys[0] = keys[end];
    keys[end] = most;
    sift(keys, 0, end);
  }
}

static unsigned count(struct local *l) {
  unsigned distinct = 0;
  memset(l->table, 0, sizeof l->table);
  for (int i = 0; i < KEYS; i++) {
    unsigned key = l->keys[i] | 1, at = key * 2654435761u;
    while (l->table[at % (2 * KEYS)].key && l->table[at % (2 * KEYS)].key != key) at++;
    struct entry *entry = &l->table[at % (2 * KEYS)];
    distinct += entry->key == 0;
    entry->key = key;
    entry->count++;
  }
  return distinct;
}

static void *worker(void *argument) {
  struct local *l = calloc(1, sizeof *l);
  unsigned seed = (unsigned)(long)argument + 1;
  for (long round = 0; round < rounds; round++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) l->a[i][j] = i + round, l->b[i][j] = j;
    multiply(l);
    for (int i = 0; i < KEYS; i++) l->keys[i] = (seed = seed * 1103515245 + 12345) >> 18;
    unsigned distinct = count(l);
    sort(l->keys, KEYS);
    for (int i = 0; i < 100; i++) {
      pthread_mutex_lock(&mutex);
      shared[i % 64] += distinct + (long)l->c[i % N][0];
      pthread_mutex_unlock(&mutex);
    }
  }
  free(l);
  return 0;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  rounds = atol(arguments[1]);
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
}
