// A reference count: relaxed to take, release to drop, acquire before the last one frees.
// case right -DDROP=REL -DFENCE: none
// case acq-rel -DDROP=AR: none
// case no-acquire -DDROP=REL: race use free
// case relaxed -DDROP=RLX -DFENCE: race use free
#include <stdatomic.h>
#include "../turns.h"

struct shared {
  atomic_int count;
  int value;
};

static struct shared *object;

static void drop(struct shared *shared) {
  if (atomic_fetch_sub_explicit(&shared->count, 1, DROP) == 1) {
#ifdef FENCE
    atomic_thread_fence(ACQ);
#endif
    shared->value = -1; //@free
    free(shared);       //@free
  }
}

static void user(void) {
  atomic_fetch_add_explicit(&object->count, 1, RLX);
  if (object->value != 7) abort(); //@use
  drop(object);
  drop(object);
}

int main(void) {
  object = malloc(sizeof *object);
  object->value = 7;
  atomic_init(&object->count, 3);
  IN_TURNS(user, user, user);
}
