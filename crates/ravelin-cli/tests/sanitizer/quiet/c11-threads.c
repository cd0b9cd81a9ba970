// The threads of C11: thrd, mtx, cnd, call_once, tss.
// case c: none
#include <stdlib.h>
#include <threads.h>

static mtx_t mutex, recursive;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static int turn, value, protected, dropped;

static void initialise(void) { value = 7; }

static void drop(void *block) {
  mtx_lock(&mutex);
  dropped++;
  mtx_unlock(&mutex);
  free(block);
}

static int worker(void *argument) {
  int me = *(int *)argument;
  call_once(&once, initialise);
  if (value != 7) abort();
  tss_set(key, malloc(16));
  for (int i = 0; i < 100; i++) {
    mtx_lock(&mutex);
    while (turn % 3 != me) cnd_wait(&changed, &mutex);
    turn++;
    cnd_broadcast(&changed);
    mtx_unlock(&mutex);
    while (mtx_trylock(&recursive) != thrd_success) thrd_yield();
    mtx_lock(&recursive);
    protected++;
    mtx_unlock(&recursive);
    mtx_unlock(&recursive);
  }
  if (me == 2) thrd_exit(5);
  return me;
}

int main(void) {
  thrd_t threads[3];
  int numbers[3];
  mtx_init(&mutex, mtx_plain);
  mtx_init(&recursive, mtx_plain | mtx_recursive);
  cnd_init(&changed);
  tss_create(&key, drop);
  value = 0;
  for (int i = 0; i < 3; i++) numbers[i] = i, thrd_create(&threads[i], worker, &numbers[i]);
  for (int i = 0; i < 3; i++) {
    int result;
    thrd_join(threads[i], &result);
    if (result != (i == 2 ? 5 : i)) return 1;
  }
  return dropped != 3 || protected != 300;
}
