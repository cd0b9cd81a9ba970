// New locks at the addresses of old ones, in another order: what was freed or destroyed is over.
// case freed: none
// case destroyed -DDESTROYED: none
#include "../turns.h"

struct pair {
  pthread_mutex_t a, b;
};

static struct pair *pair, *before;

static void both(pthread_mutex_t *one, pthread_mutex_t *two) {
  pthread_mutex_lock(one);
  pthread_mutex_lock(two);
  pthread_mutex_unlock(two);
  pthread_mutex_unlock(one);
}

static HIDDEN void renew(void) {
#ifdef DESTROYED
  pthread_mutex_destroy(&pair->a);
  pthread_mutex_destroy(&pair->b);
  pthread_mutex_init(&pair->a, 0);
  pthread_mutex_init(&pair->b, 0);
#else
  before = pair;
  free(pair);
  pair = (struct pair *)calloc(1, sizeof(struct pair));
#endif
}

static void first(void) {
  both(&pair->a, &pair->b);
  renew();
}

static void second(void) { both(&pair->b, &pair->a); }

int main(void) {
  pair = (struct pair *)calloc(1, sizeof(struct pair));
  IN_TURNS(first, second);
}
