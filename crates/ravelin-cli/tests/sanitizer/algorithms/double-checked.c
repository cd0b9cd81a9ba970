// Double-checked locking, right and wrong.
// case right -DW=REL -DR=ACQ: none
// case relaxed -DW=RLX -DR=RLX: race fill use
// case plain -DPLAIN: race, may race
#include <stdatomic.h>
#include "../turns.h"

struct config {
  int value;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#ifdef PLAIN
static struct config *instance;
#define LOAD() instance
#define STORE(value) (instance = (value))
#else
static _Atomic(struct config *) instance;
#define LOAD() atomic_load_explicit(&instance, R)
#define STORE(value) atomic_store_explicit(&instance, value, W)
#endif

static void use(void) {
  struct config *config = LOAD();
  if (!config) {
    pthread_mutex_lock(&mutex);
    config = LOAD();
    if (!config) {
      config = malloc(sizeof *config);
      config->value = 7; //@fill
      STORE(config);
    }
    pthread_mutex_unlock(&mutex);
  }
  if (config->value != 7) abort(); //@use
}

int main(void) { IN_TURNS(use, use, use); }
